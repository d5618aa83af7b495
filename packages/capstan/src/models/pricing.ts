import type { Usage } from "../model.ts";

/** In US dollars per million tokens. */
export type Price = {
  readonly input: number;
  readonly output: number;
  /** For input that the provider had cached; by default as much as any other. */
  readonly cachedInput?: number;
};

/** Prices by `provider/model`. */
export type PriceList = { readonly [model: string]: Price };

export type PricedOptions = {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** Go before the known prices. */
  readonly prices?: PriceList | undefined;
};

type CostOf = (usage: Usage) => number | undefined;

/** What was used, with its cost. */
export type Priced = (usage: Usage) => Promise<Usage>;

/** What a provider says itself stands; what has no known price has no cost. */
export function priced(options: PricedOptions): Priced {
  let costOf = ownCost(options);
  return async (usage) => {
    if (usage.cost !== undefined) return usage;
    costOf ??= await knownCost(options);
    const cost = costOf(usage);
    return cost === undefined ? usage : { ...usage, cost };
  };
}

function ownCost({ provider, model, prices = {} }: PricedOptions): CostOf | undefined {
  const id = `${provider}/${model}`;
  const price = Object.hasOwn(prices, id) ? prices[id] : undefined;
  if (!price) return undefined;
  const { input, output, cachedInput = input } = price;
  return (usage) => {
    const cached = cachedOf(usage);
    const fresh = usage.inputTokens - cached;
    return (fresh * input + cached * cachedInput + usage.outputTokens * output) / 1_000_000;
  };
}

async function knownCost({ provider, model }: PricedOptions): Promise<CostOf> {
  // Not before it is needed: the list is large, and a run whose prices are given never needs it.
  const list = await import("@pydantic/genai-prices").catch(() => undefined);
  if (!list) return () => undefined;
  // A compatible server that was given no name is known by its host.
  const seller = provider.includes(".")
    ? { providerApiUrl: `https://${provider}` }
    : { providerId: provider };
  let isKnown = true;
  return (usage) => {
    if (!isKnown) return undefined; // to look again would cost more than the rest of the turn
    const figures = {
      input_tokens: usage.inputTokens,
      cache_read_tokens: cachedOf(usage),
      output_tokens: usage.outputTokens,
    };
    try {
      const price = list.calcPrice(figures, model, seller);
      isKnown = price !== null;
      return price?.total_price;
    } catch {
      // Figures that make no sense: an answer without a cost beats no answer.
      return undefined;
    }
  };
}

/** Never more than the input: some servers count what they cached in another way. */
function cachedOf({ inputTokens, cachedTokens = 0 }: Usage): number {
  return Math.min(cachedTokens, inputTokens);
}
