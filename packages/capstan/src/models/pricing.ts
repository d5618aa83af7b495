import type { Usage } from "../model.ts";

/** In US dollars per million tokens. */
export type Price = {
  readonly input: number;
  readonly output: number;
  /** For cached input. Default: `input`. */
  readonly cachedInput?: number;
};

/** Prices by `provider/model`. */
export type PriceList = { readonly [model: string]: Price };

export type PricerOptions = {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** Take precedence over the built-in price list. */
  readonly prices?: PriceList | undefined;
};

type ComputeCost = (usage: Usage) => number | undefined;

/** Adds the cost to a usage. */
export type Pricer = (usage: Usage) => Promise<Usage>;

/** A cost reported by the provider is kept. A model without a known price gets no cost. */
export function createPricer(options: PricerOptions): Pricer {
  let computeCost = createCustomCost(options);
  return async (usage) => {
    if (usage.cost !== undefined) return usage;
    computeCost ??= await loadListedCost(options);
    const cost = computeCost(usage);
    return cost === undefined ? usage : { ...usage, cost };
  };
}

function createCustomCost({ provider, model, prices = {} }: PricerOptions): ComputeCost | undefined {
  const id = `${provider}/${model}`;
  const price = Object.hasOwn(prices, id) ? prices[id] : undefined;
  if (!price) return undefined;
  const { input, output, cachedInput = input } = price;
  return (usage) => {
    const cached = getCachedTokens(usage);
    const fresh = usage.inputTokens - cached;
    return (fresh * input + cached * cachedInput + usage.outputTokens * output) / 1_000_000;
  };
}

async function loadListedCost({ provider, model }: PricerOptions): Promise<ComputeCost> {
  // Loaded on demand: the list is large and not needed when prices are given.
  const list = await import("@pydantic/genai-prices").catch(() => undefined);
  if (!list) return () => undefined;
  // A compatible server without a provider name is identified by its host.
  const seller = provider.includes(".")
    ? { providerApiUrl: `https://${provider}` }
    : { providerId: provider };
  let isListed = true;
  return (usage) => {
    if (!isListed) return undefined; // another lookup would cost more than the rest of the turn
    const figures = {
      input_tokens: usage.inputTokens,
      cache_read_tokens: getCachedTokens(usage),
      output_tokens: usage.outputTokens,
    };
    try {
      const price = list.calcPrice(figures, model, seller);
      isListed = price !== null;
      return price?.total_price;
    } catch {
      // Invalid figures: report no cost rather than fail the response.
      return undefined;
    }
  };
}

/** Capped at the input tokens: some servers count cached tokens separately. */
function getCachedTokens({ inputTokens, cachedTokens = 0 }: Usage): number {
  return Math.min(cachedTokens, inputTokens);
}
