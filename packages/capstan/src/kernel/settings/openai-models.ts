// OpenAI's models reject fields that they do not support, so a request depends on the family of its model. The wires
// build their fields from these rules, and support.ts reports the settings that they omit.
import { toLevel } from "./effort.ts";
import type { Limit } from "./limit.ts";
import type { Effort, ModelSettings } from "./settings.ts";

/** OpenAI's words for the levels of effort, lowest first. */
const allEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type OpenAiEffort = (typeof allEfforts)[number];

type OpenAiFamily = {
  readonly names: RegExp;
  /** Levels that the models accept, lowest first. Empty: the effort cannot be set. */
  readonly efforts: readonly OpenAiEffort[];
  /** When the models accept temperature, topP and logprobs; `unreasoned`: only with the effort `none`. */
  readonly sampling: "always" | "unreasoned" | "never";
};

const toMax = ["low", "medium", "high", "xhigh", "max"] as const;

/** The first match counts. */
const families: readonly OpenAiFamily[] = [
  { names: /^(chatgpt|gpt-3|gpt-4|gpt-5-chat|gpt-audio)/, efforts: [], sampling: "always" },
  { names: /^gpt-5\.\d+-chat/, efforts: [], sampling: "never" },
  { names: /^gpt-5-pro/, efforts: ["high"], sampling: "never" },
  { names: /^gpt-5\.1-codex-mini/, efforts: ["medium", "high"], sampling: "never" },
  { names: /^gpt-([\d.]+-pro|5\.1-codex-max)/, efforts: ["medium", "high", "xhigh"], sampling: "never" },
  { names: /^(o\d|codex|gpt-5(\.1)?-codex)/, efforts: ["low", "medium", "high"], sampling: "never" },
  { names: /^gpt-[\d.]+-codex/, efforts: ["low", "medium", "high", "xhigh"], sampling: "never" },
  { names: /^gpt-6-(sol|luna)/, efforts: ["none", ...toMax], sampling: "never" },
  { names: /^gpt-([6-9]|\d\d)/, efforts: toMax, sampling: "never" },
  { names: /^gpt-5\.1(?!\d)/, efforts: ["none", "low", "medium", "high"], sampling: "unreasoned" },
  {
    names: /^gpt-5\.[2-5](?!\d)/,
    efforts: ["none", "low", "medium", "high", "xhigh"],
    sampling: "unreasoned",
  },
  { names: /^gpt-5\./, efforts: ["none", ...toMax], sampling: "unreasoned" },
  { names: /^gpt-5/, efforts: ["minimal", "low", "medium", "high"], sampling: "never" },
];

/** Matches a name of OpenAI's within a longer one: of a fine-tuned model, of a gateway, of a deployment. */
const openAiName = /(?:^|[^a-z\d])((?:chatgpt-|gpt-|codex-|o\d(?![a-z\d.])).*)/;

function getFamilyName(model: string): string {
  return openAiName.exec(model.toLowerCase())?.[1] ?? "";
}

function findFamily(model: string): OpenAiFamily | undefined {
  const name = getFamilyName(model);
  return families.find(({ names }) => names.test(name));
}

/** Whether a model reasons on request; undefined if its name does not tell. */
export function findReasoning(model: string): boolean | undefined {
  const family = findFamily(model);
  return family && family.efforts.length > 0;
}

/** Returns the level to request; a wish to think is one for the medium level of a model that is known to reason. */
export function resolveOpenAiEffort(
  model: string,
  { effort }: ModelSettings,
  thinking: boolean,
): OpenAiEffort | undefined {
  if (effort !== undefined) return findOpenAiEffort(model, effort);
  return thinking && findReasoning(model) ? findOpenAiEffort(model, "medium") : undefined;
}

/** Returns the model's level that is nearest to an effort, if it has any. An unknown model is trusted with every level. */
function findOpenAiEffort(model: string, effort: Effort): OpenAiEffort | undefined {
  const { efforts } = findFamily(model) ?? { efforts: allEfforts };
  const wanted = allEfforts.indexOf(toLevel(effort));
  return efforts.find((known) => allEfforts.indexOf(known) >= wanted) ?? efforts.at(-1);
}

/** Whether a model accepts temperature, topP and logprobs together with the other settings. */
export function acceptsSampling(model: string, { effort }: ModelSettings): boolean {
  const { sampling } = findFamily(model) ?? { sampling: "always" };
  return sampling === "always" || (sampling === "unreasoned" && effort === "none");
}

/** Whether the chat API lets a request to a model limit the calls of an answer. */
export function acceptsParallelCalls(model: string): boolean {
  return !/^o\d/.test(getFamilyName(model));
}

type Cache = NonNullable<ModelSettings["cache"]>;
type OpenAiApi = "openai-responses" | "openai-chat";
type CacheFields = {
  readonly prompt_cache_options?: { readonly mode: "explicit" } | { readonly ttl: "30m" | "12h" };
  readonly prompt_cache_retention?: "in_memory" | "24h";
};

/** Models that keep a prompt for a day on request. */
const extendedCache = /^gpt-(4\.1|5(\.\d)?)(-codex.*|-pro|-chat-latest)?(-\d{4}-\d\d-\d\d)?$/;

/** Returns the fields that are nearest to a cache setting. OpenAI caches every prompt; later models let a request opt out. */
export function buildCacheFields(model: string, cache: Cache, api: OpenAiApi): CacheFields {
  const name = getFamilyName(model);
  const version = Number(/^gpt-(\d+(\.\d+)?)/.exec(name)?.[1] ?? 0);
  if (version >= 5.6) {
    // An explicit cache without breakpoints is none.
    if (cache === "off") return { prompt_cache_options: { mode: "explicit" } };
    if (cache === "long" && api === "openai-chat") return {};
    return { prompt_cache_options: { ttl: cache === "long" ? "12h" : "30m" } };
  }
  if (!extendedCache.test(name)) return {};
  if (cache === "long") return { prompt_cache_retention: "24h" };
  return version === 5.5 ? {} : { prompt_cache_retention: "in_memory" };
}

/** Whether a model caches as requested, and not only as near to it as it can. */
function followsCache(model: string, cache: Cache, api: OpenAiApi): boolean {
  if (cache === "short") return !getFamilyName(model).startsWith("gpt-5.5");
  const fields = buildCacheFields(model, cache, api);
  return cache === "off" ? fields.prompt_cache_options !== undefined : Object.keys(fields).length > 0;
}

const sampling: readonly Limit[] = (["temperature", "topP", "logprobs"] as const).map((field) => ({
  field,
  effect: field === "logprobs" ? "refused" : "ignored",
  applies: (value, settings, model) => value !== false && !acceptsSampling(model, settings),
  reason: 'models that reason choose their own sampling; some accept this field with the effort "none"',
}));

const effortLevels: readonly Limit[] = [
  {
    field: "effort",
    effect: "ignored",
    applies: (effort, _settings, model) => effort !== "none" && findReasoning(model) === false,
    reason: "it does not reason on request",
  },
  {
    field: "effort",
    effect: "ignored",
    applies: (effort, _settings, model) =>
      findReasoning(model) !== false && findOpenAiEffort(model, effort as Effort) !== effort,
    reason: "the nearest of its levels is used",
  },
];

const toCacheLimits = (api: OpenAiApi): readonly Limit[] =>
  [true, false].map((hasNearest) => ({
    field: "cache",
    effect: "ignored",
    applies: (value, _settings, model) => {
      const cache = value as Cache;
      const isSent = Object.keys(buildCacheFields(model, cache, api)).length > 0;
      return !followsCache(model, cache, api) && isSent === hasNearest;
    },
    reason: hasNearest
      ? "its prompts are always kept; the shortest time is used"
      : "the provider decides how long it keeps the prompts of this model",
  }));

/** What OpenAI's responses API cannot do. */
export const responsesLimits: readonly Limit[] = [
  { field: "stop", effect: "refused", reason: 'use `api: "chat"`, or search the answer yourself' },
  { field: "seed", effect: "ignored", reason: "answers are not repeatable" },
  ...sampling,
  ...effortLevels,
  ...toCacheLimits("openai-responses"),
];

/** What OpenAI's chat completions API cannot do. */
export const chatLimits: readonly Limit[] = [
  {
    field: "stop",
    effect: "refused",
    applies: (_stop, _settings, model) => findReasoning(model) === true,
    reason: "models that reason do not stop at a text; search the answer yourself",
  },
  {
    field: "stop",
    effect: "refused",
    applies: (stop) => Array.isArray(stop) && stop.length > 4,
    reason: "at most 4 texts are allowed",
  },
  {
    field: "parallelToolCalls",
    effect: "ignored",
    applies: (value, _settings, model) => value === false && !acceptsParallelCalls(model),
    reason: 'use `api: "responses"`',
  },
  ...sampling,
  ...effortLevels,
  ...toCacheLimits("openai-chat"),
];
