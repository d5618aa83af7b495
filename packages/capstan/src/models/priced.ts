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

/** The model with the cost of what it used. What a provider says itself stands; what has no known price has no cost. */
export function priced(model: Model, options: PricedOptions): Model {
  return {
    id: model.id,
    async *stream(
      request: ModelRequest,
      settings: { readonly signal: AbortSignal },
    ): AsyncGenerator<readonly Chunk[]> {
      for await (const batch of model.stream(request, settings))
        yield batch.some(lacksCost)
          ? await Promise.all(batch.map((chunk) => withCost(chunk, options)))
          : batch;
    },
  };
}

function lacksCost(chunk: Chunk): boolean {
  return chunk.type === "usage" && chunk.usage.cost === undefined;
}

async function withCost(chunk: Chunk, options: PricedOptions): Promise<Chunk> {
  if (chunk.type !== "usage" || !lacksCost(chunk)) return chunk;
  const { usage } = chunk;
  const cost = ownCost(usage, options) ?? (await knownCost(usage, options));
  return cost === undefined ? chunk : { type: "usage", usage: { ...usage, cost } };
}

function ownCost(usage: Usage, { provider, model, prices = {} }: PricedOptions): number | undefined {
  const id = `${provider}/${model}`;
  const price = Object.hasOwn(prices, id) ? prices[id] : undefined;
  if (!price) return undefined;
  const { input, output, cachedInput = input } = price;
  const cached = cachedOf(usage);
  const fresh = usage.inputTokens - cached;
  return (fresh * input + cached * cachedInput + usage.outputTokens * output) / 1_000_000;
}

async function knownCost(usage: Usage, { provider, model }: PricedOptions): Promise<number | undefined> {
  try {
    // Not before it is needed: the list is large, and a run whose prices are given never needs it.
    const { calcPrice } = await import("@pydantic/genai-prices");
    const figures = {
      input_tokens: usage.inputTokens,
      cache_read_tokens: cachedOf(usage),
      output_tokens: usage.outputTokens,
    };
    // A compatible server that was given no name is known by its host.
    const seller = provider.includes(".")
      ? { providerApiUrl: `https://${provider}` }
      : { providerId: provider };
    return calcPrice(figures, model, seller)?.total_price;
  } catch {
    // Figures that make no sense, or a bundle without the list: an answer without a cost beats no answer.
    return undefined;
  }
}

/** Never more than the input: some servers count what they cached in another way. */
function cachedOf({ inputTokens, cachedTokens = 0 }: Usage): number {
  return Math.min(cachedTokens, inputTokens);
}
