import { applicationTable, type ModelInfo, modelTableDate, outputLimits } from "./model-table.ts";
import { toSeller } from "./pricing.ts";

/**
 * Returns what is known about a model named `provider/model`, from the application's table and then the built-in data;
 * undefined for an unknown model. Prices apply to short requests: some models cost more per token for long ones.
 */
export async function findModelInfo(id: string): Promise<DatedModelInfo | undefined> {
  const own = applicationTable.current;
  const row = own && Object.hasOwn(own.models, id) ? own.models[id] : undefined;
  const slash = id.indexOf("/");
  if (slash < 1) return row && own && { ...row, date: own.date };
  const [provider, model] = [id.slice(0, slash), id.slice(slash + 1)];
  const listed = await loadListedInfo(provider, model);
  const maxOutputTokens = outputLimits.find(({ pattern }) => pattern.test(model))?.maxOutputTokens;
  const info = { ...listed, ...(maxOutputTokens !== undefined && { maxOutputTokens }), ...row };
  if (Object.keys(info).length === 0) return undefined;
  return { ...info, date: row && own ? own.date : modelTableDate };
}

export type DatedModelInfo = ModelInfo & {
  /** When the data was last checked. */
  readonly date: string;
};

async function loadListedInfo(provider: string, model: string): Promise<ModelInfo> {
  const list = await import("@pydantic/genai-prices").catch(() => undefined);
  const found = list?.calcPrice({ input_tokens: 1, output_tokens: 1 }, model, toSeller(provider));
  if (!found) return {};
  const getAmount = (unit: string): number | undefined => {
    const price = found.model_price[unit];
    return typeof price === "object" ? price.base : price;
  };
  const [cachedInput, cacheWrite] = [getAmount("cache_read_mtok"), getAmount("cache_write_mtok")];
  const longCacheWrite = getAmount("cache_write_1h_mtok");
  return {
    price: {
      ...{ input: getAmount("input_mtok") ?? 0, output: getAmount("output_mtok") ?? 0 },
      ...(cachedInput !== undefined && { cachedInput }),
      ...(cacheWrite !== undefined && { cacheWrite }),
      ...(longCacheWrite !== undefined && { longCacheWrite }),
    },
    ...(found.model.context_window !== undefined && { contextWindow: found.model.context_window }),
  };
}
