import type { Chunk, Model, ModelRequest, Usage } from "../model.ts";

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

/** The model with the cost of what it used. What a provider says itself stands; what has no known price has no cost. */
export function priced(model: Model, options: PricedOptions): Model {
  let costOf = ownCost(options);
  const withCost = async (usage: Usage): Promise<Chunk> => {
    costOf ??= await knownCost(options);
    const cost = costOf(usage);
    return { type: "usage", usage: cost === undefined ? usage : { ...usage, cost } };
  };
  return {
    id: model.id,
    async *stream(
      request: ModelRequest,
      settings: { readonly signal: AbortSignal },
    ): AsyncGenerator<readonly Chunk[]> {
      const reading: Reading = { isOver: false, usage: undefined };
      try {
        for await (const batch of model.stream(request, settings)) {
          for (const chunk of batch) note(reading, chunk);
          const { isOver, usage } = reading;
          if (!isOver || !usage) {
            yield batch;
            continue;
          }
          reading.usage = undefined;
          yield [await withCost(usage), ...batch.filter(({ type }) => type !== "usage")];
        }
      } catch (thrown) {
        // What a broken answer has used is paid for too.
        if (reading.usage) yield [await withCost(reading.usage)];
        throw thrown;
      }
      if (reading.usage) yield [await withCost(reading.usage)];
    },
  };
}

/**
 * `usage` is what was told and has no cost yet. Figures are totals and some providers tell them with every piece, while
 * a look at the price list costs more than reading a piece: so it waits for the end of the answer.
 */
type Reading = { isOver: boolean; usage: Usage | undefined };

function note(reading: Reading, chunk: Chunk): void {
  if (chunk.type === "usage") reading.usage = chunk.usage.cost === undefined ? chunk.usage : undefined;
  else if (chunk.type === "finish") reading.isOver = true;
  else if (chunk.type === "restart") {
    reading.isOver = false;
    reading.usage = undefined;
  }
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
