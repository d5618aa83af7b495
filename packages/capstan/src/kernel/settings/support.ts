import { AgentError } from "../../base/errors.ts";
import { claudeLimits } from "./claude-models.ts";
import { geminiLimits } from "./gemini-models.ts";
import type { Limit } from "./limit.ts";
import { chatLimits, responsesLimits } from "./openai-models.ts";
import { listServerLimits, servers } from "./servers.ts";
import type { ModelSettings } from "./settings.ts";

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

/** What each API cannot do. The table in docs/models.md is generated from the requests that its client sends. */
const limits: { readonly [Api in ModelApi]: readonly Limit[] } = {
  "openai-responses": responsesLimits,
  "openai-chat": chatLimits,
  compatible: listServerLimits(),
  anthropic: claudeLimits,
  gemini: geminiLimits,
  "ai-sdk": [], // depends on the provider: see `listAiSdkLimits`
  llama: [
    { field: "serviceTier", effect: "ignored", reason: "the model runs in this process" },
    { field: "extra", effect: "ignored", reason: "there is no request to copy fields into" },
  ],
};

/** Returns the settings that a model cannot follow, because of its API or its own limits. */
export function findSettingProblems(
  api: ModelApi | readonly Limit[],
  model: string,
  settings: ModelSettings,
): readonly SettingProblem[] {
  const known = typeof api === "string" ? limits[api] : api;
  return known.flatMap(({ field, effect, applies, reason }): SettingProblem[] => {
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
  gemini: "gemini",
  vertex: "gemini",
  local: "llama",
};

/** Same as `findSettingProblems`, for a model named `provider/model`. */
export function findNamedProblems(name: string, settings: ModelSettings): readonly SettingProblem[] {
  const limited = findNamedLimits(name);
  return limited ? findSettingProblems(limited, name.slice(name.indexOf("/") + 1), settings) : [];
}

/**
 * Returns the API of a model named `provider/model`, or the limits of its server. Undefined for the offline model: no
 * setting changes its answers. Clouds offer the models of several providers, each with the API of its provider.
 */
export function findNamedLimits(name: string): ModelApi | readonly Limit[] | undefined {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(0, slash));
  if (provider === "offline" || slash < 0) return undefined;
  if (/^(?:bedrock|vertex)\/.*(?:anthropic|claude)/.test(name)) return "anthropic";
  const api = Object.hasOwn(apis, provider) ? apis[provider] : undefined;
  const support = Object.hasOwn(servers, provider) ? servers[provider] : undefined;
  return api ?? listServerLimits(support);
}

/** The part of a model that knows its settings. */
type ModelWithSettings = { checkSettings?(settings: ModelSettings): readonly SettingProblem[] };

/** Throws `invalid_definition` if a model refuses a setting of its agent. Warns of ignored settings. */
export function checkSupport(
  owner: string,
  settings: ModelSettings,
  models: readonly (ModelWithSettings | string)[],
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
export function emitWarning(message: string): void {
  const { process } = globalThis as { process?: { emitWarning?(text: string, type: string): void } };
  process?.emitWarning?.(message, "CapstanWarning");
}
