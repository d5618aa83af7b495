import { isFreeModel } from "../base/usage.ts";
import type { Usage } from "../kernel/model.ts";
import { emitWarning } from "../kernel/settings/support.ts";
import { applicationTable, type ModelTable, type Price, searchPrices } from "./model-table.ts";

/** Prices by `provider/model`. */
export type PriceList = { readonly [model: string]: Price };

export type PricerOptions = {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** Take precedence over the table of models. */
  readonly prices?: PriceList | undefined;
};

type ComputeCost = (usage: Usage) => number | undefined;

/** Adds the cost to a usage. */
export type Pricer = (usage: Usage) => Promise<Usage>;

/** A cost reported by the provider is kept. A model without a known price gets no cost and is marked `unpriced`. */
export function createPricer(options: PricerOptions): Pricer {
  const { provider, model, prices } = options;
  const id = `${provider}/${model}`;
  const isFree = isFreeModel(id);
  if (prices) warnAboutKeys(id, model, prices);
  let table: ModelTable | undefined;
  let computeCost: ComputeCost | undefined;
  return async (usage) => {
    if (usage.cost !== undefined) return usage;
    if (!computeCost || table !== applicationTable.current) {
      table = applicationTable.current;
      computeCost = createCustomCost(options) ?? (await loadListedCost(options));
    }
    const tokenCost = computeCost(usage);
    const cost = usage.webSearches ? addSearchCost(options, usage.webSearches, tokenCost) : tokenCost;
    if (cost !== undefined) return { ...usage, cost };
    return isFree ? usage : { ...usage, unpriced: true };
  };
}

/** Undefined if one of the prices is not known. */
function addSearchCost(
  { provider, model, prices = {} }: PricerOptions,
  searches: number,
  tokenCost: number | undefined,
): number | undefined {
  const id = `${provider}/${model}`;
  const own = (Object.hasOwn(prices, id) ? prices[id] : applicationTable.current?.models[id]?.price)
    ?.webSearch;
  const listed = searchPrices.find((row) => row.provider === provider && (row.pattern?.test(model) ?? true));
  const price = own ?? listed?.price;
  if (price === undefined || tokenCost === undefined) return undefined;
  const billed = own === undefined && listed?.isPerAnswer ? 1 : searches;
  return tokenCost + (billed * price) / 1_000;
}

/** A price under another key has no effect, which an application would learn from its bill. */
function warnAboutKeys(id: string, model: string, prices: PriceList): void {
  if (Object.hasOwn(prices, id)) return;
  const similar = Object.keys(prices).find((key) => key === model || key.endsWith(`/${model}`));
  if (similar === undefined) return;
  emitWarning(
    `prices has "${similar}", but the model is "${id}", so it has no effect. Use the key "${id}": for compatible() it begins with the host name, unless you set \`provider\`.`,
  );
}

function createCustomCost({ provider, model, prices = {} }: PricerOptions): ComputeCost | undefined {
  const id = `${provider}/${model}`;
  const price = Object.hasOwn(prices, id) ? prices[id] : applicationTable.current?.models[id]?.price;
  if (!price) return undefined;
  const { input, output, cachedInput = input, cacheWrite = input, longCacheWrite = cacheWrite } = price;
  return (usage) => {
    const { cached, written, writtenLong } = splitInput(usage);
    const inputCost =
      (usage.inputTokens - cached - written) * input +
      cached * cachedInput +
      (written - writtenLong) * cacheWrite +
      writtenLong * longCacheWrite;
    return (inputCost + usage.outputTokens * output) / 1_000_000;
  };
}

async function loadListedCost({ provider, model }: PricerOptions): Promise<ComputeCost> {
  // Loaded on demand: the list is large and not needed when prices are given.
  const list = await import("@pydantic/genai-prices").catch(() => undefined);
  if (!list) return () => undefined;
  const seller = toSeller(provider);
  let isListed = true;
  return (usage) => {
    if (!isListed) return undefined; // another lookup would cost more than the rest of the turn
    const { cached, written, writtenLong } = splitInput(usage);
    const figures = {
      input_tokens: usage.inputTokens,
      cache_read_tokens: cached,
      ...(written > 0 && { cache_write_tokens: written }),
      ...(writtenLong > 0 && { cache_write_1h_tokens: writtenLong }),
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

/** How the price list identifies a provider. A compatible server without a provider name is identified by its host. */
export function toSeller(provider: string): { providerApiUrl: string } | { providerId: string } {
  if (provider.includes(".")) return { providerApiUrl: `https://${provider}` };
  return { providerId: provider === "bedrock" ? "aws" : provider };
}

/** Capped at the input tokens: some servers count cached tokens separately. */
function splitInput({
  inputTokens,
  cachedTokens = 0,
  cacheWriteTokens = 0,
  longCacheWriteTokens = 0,
}: Usage): { readonly cached: number; readonly written: number; readonly writtenLong: number } {
  const cached = Math.min(cachedTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - cached);
  return { cached, written, writtenLong: Math.min(longCacheWriteTokens, written) };
}
