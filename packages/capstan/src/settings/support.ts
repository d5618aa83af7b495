import { AgentError } from "../errors.ts";
import type { Model } from "../model.ts";
import { claudeLimits } from "./claude-models.ts";
import { geminiLimits } from "./gemini-models.ts";
import { type Limit, levelsOnly } from "./limit.ts";
import {
  acceptsParallelCalls,
  acceptsSampling,
  findOpenAiEffort,
  findReasoning,
  followsCache,
} from "./openai-models.ts";
import type { Effort, ModelSettings } from "./settings.ts";

/** The API that a client speaks. */
export type ModelApi =
  | "openai-responses"
  | "openai-chat"
  | "compatible"
  | "anthropic"
  | "gemini"
  | "ai-sdk"
  | "llama";

/** A setting that a model cannot follow. */
export type SettingProblem = {
  readonly field: keyof ModelSettings;
  /** One sentence: what is not supported, and what happens or what to do instead. */
  readonly message: string;
  /** The request would mean something else without it, so it is not sent. */
  readonly isError: boolean;
};

const openAiSampling: readonly Limit[] = (["temperature", "topP", "logprobs"] as const).map((field) => ({
  field,
  effect: field === "logprobs" ? "refused" : "ignored",
  applies: (value, settings, model) => value !== false && !acceptsSampling(model, settings),
  reason: 'models that reason choose their own sampling; some accept this field with the effort "none"',
}));

const openAiEffort: readonly Limit[] = [
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

const toCacheLimit = (api: "openai-responses" | "openai-chat"): Limit => ({
  field: "cache",
  effect: "ignored",
  applies: (cache, _settings, model) => !followsCache(model, cache as "off" | "short" | "long", api),
  reason: "the provider decides how long it keeps the prompts of this model",
});

/** What each API cannot do. The table in docs/models.md is generated from the requests that its client sends. */
const limits: { readonly [Api in ModelApi]: readonly Limit[] } = {
  "openai-responses": [
    { field: "stop", effect: "refused", reason: 'use `api: "chat"`, or search the answer yourself' },
    { field: "seed", effect: "ignored", reason: "answers are not repeatable" },
    ...openAiSampling,
    ...openAiEffort,
    toCacheLimit("openai-responses"),
  ],
  "openai-chat": [
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
    ...openAiSampling,
    ...openAiEffort,
    toCacheLimit("openai-chat"),
  ],
  compatible: [levelsOnly],
  anthropic: claudeLimits,
  gemini: geminiLimits,
  "ai-sdk": [],
  llama: [],
};

/** Returns the settings that a model cannot follow. */
export function findSettingProblems(
  api: ModelApi,
  model: string,
  settings: ModelSettings,
): readonly SettingProblem[] {
  return limits[api].flatMap(({ field, effect, applies, reason }): SettingProblem[] => {
    const value = settings[field];
    if (value === undefined || applies?.(value, settings, model) === false) return [];
    const message = `${model} does not support ${field} ${JSON.stringify(value)}: ${reason}.`;
    return [{ field, message, isError: effect === "refused" }];
  });
}

const apis: { readonly [provider: string]: ModelApi } = {
  openai: "openai-responses",
  azure: "openai-responses",
  anthropic: "anthropic",
  bedrock: "anthropic",
  gemini: "gemini",
  vertex: "gemini",
};

/** Same as `findSettingProblems`, for a model named `provider/model`. */
export function findNamedProblems(name: string, settings: ModelSettings): readonly SettingProblem[] {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(0, slash));
  if (provider === "offline" || slash < 0) return []; // rule-based: no setting changes its answers
  const api = Object.hasOwn(apis, provider) ? apis[provider] : undefined;
  return findSettingProblems(api ?? "compatible", name.slice(slash + 1), settings);
}

/** Throws `invalid_definition` if a model refuses a setting of its agent, and warns of those that it ignores. */
export function checkSupport(
  owner: string,
  settings: ModelSettings,
  models: readonly (Model | string)[],
): void {
  const problems = models.flatMap((model) =>
    typeof model === "string" ? findNamedProblems(model, settings) : (model.checkSettings?.(settings) ?? []),
  );
  const refused = problems.find(({ isError }) => isError);
  if (refused)
    throw new AgentError(
      "invalid_definition",
      `settings.${refused.field} of the ${owner}: ${refused.message}`,
    );
  for (const message of new Set(problems.map((problem) => problem.message)))
    emitWarning(`settings of the ${owner}: ${message}`);
}

/** Node prints the warning. Elsewhere the run's own warning has to do. */
function emitWarning(message: string): void {
  const { process } = globalThis as { process?: { emitWarning?(text: string, type: string): void } };
  process?.emitWarning?.(message, "CapstanWarning");
}
