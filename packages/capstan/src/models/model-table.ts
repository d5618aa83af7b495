/*
 * Prices and limits of models, in one place. Prices and context windows come from the price list of
 * `@pydantic/genai-prices`, which is loaded on first use; output limits, which it lacks, are the rows below. An
 * application replaces any of it with `setModelTable`.
 */

/** In US dollars per million tokens. */
export type Price = {
  readonly input: number;
  readonly output: number;
  /** For input read from the provider's cache. Default: `input`. */
  readonly cachedInput?: number;
  /** For input written to the provider's cache. Default: `input`. */
  readonly cacheWrite?: number;
  /** For input written to the cache for an hour or longer. Default: `cacheWrite`. */
  readonly longCacheWrite?: number;
  /** For a thousand searches by a hosted tool. Default: the provider's price, see `searchPrices`. */
  readonly webSearch?: number;
};

/** What is known about a model. */
export type ModelInfo = {
  readonly price?: Price;
  /** Maximum tokens of input and output together. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
};

/** Replaces or completes the built-in data. */
export type ModelTable = {
  /** When the data was last checked, such as `2026-11-16`. */
  readonly date: string;
  /** By `provider/model`. A field that is not set is taken from the built-in data. */
  readonly models: { readonly [id: string]: ModelInfo };
};

/** The table of the application, if it has set one. */
export const applicationTable: { current: ModelTable | undefined } = { current: undefined };

/** Uses `table` for every model of this process; undefined restores the built-in data. */
export function setModelTable(table: ModelTable | undefined): void {
  applicationTable.current = table;
}

/** When the built-in data was last checked: the rows below, and the version of the price list that is installed. */
export const modelTableDate = "2026-11-16";

/** Output limits by the model's name at the provider, the first match counts. */
export const outputLimits: readonly { readonly pattern: RegExp; readonly maxOutputTokens: number }[] = [
  { pattern: /claude-(?:instant|2|3-(?:opus|sonnet|haiku))/, maxOutputTokens: 4096 },
  { pattern: /claude-3-5-/, maxOutputTokens: 8192 },
  { pattern: /claude-3-7-/, maxOutputTokens: 64_000 },
  { pattern: /claude-opus-4(?![-.][5-9](?!\d))/, maxOutputTokens: 32_000 },
  { pattern: /claude-[a-z]+-4(?![-.][6-9](?!\d))/, maxOutputTokens: 64_000 },
  { pattern: /claude-[a-z]+-\d/, maxOutputTokens: 128_000 },
];

/** What providers bill for searches by hosted tools. */
type SearchPrice = {
  readonly provider: string;
  readonly pattern?: RegExp;
  /** In US dollars per thousand. */
  readonly price: number;
  /** An answer is billed once, however often it searches. */
  readonly isPerAnswer?: boolean;
};

/** The first match counts. Free quotas are not considered. */
export const searchPrices: readonly SearchPrice[] = [
  { provider: "anthropic", price: 10 },
  { provider: "openai", price: 10 },
  { provider: "azure", price: 14 },
  ...["gemini", "google", "vertex"].flatMap((provider): SearchPrice[] => [
    { provider, pattern: /gemini-[12]/, price: 35, isPerAnswer: true },
    { provider, price: 14 },
  ]),
];
