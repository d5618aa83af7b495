// The specification has fields for sampling, and since v4 for the effort. Other settings are options of a provider, by
// its name: the table below covers the AI SDK's own packages. `extra` adds to the options.
import type { ModelRequest } from "../../kernel/model.ts";
import {
  findClaudeEffort,
  findClaudeTraits,
  minThinkingBudget,
} from "../../kernel/settings/claude-models.ts";
import { isAboveHigh, toBudget, toCommonLevel } from "../../kernel/settings/effort.ts";
import type { Limit } from "../../kernel/settings/limit.ts";
import { findReasoning, resolveOpenAiEffort } from "../../kernel/settings/openai-models.ts";
import type { Effort, ModelSettings } from "../../kernel/settings/settings.ts";
import type { Dialect } from "./ai-sdk-prompt.ts";

type Fields = { readonly [field: string]: unknown };
/** A model of the AI SDK. */
type AiSdkTarget = Dialect & { readonly modelId: string };

/** How a provider's options express settings that the specification lacks. */
type ProviderOptions = {
  /** For the specifications before v4. */
  effort?(effort: Effort, model: string): Fields;
  parallelToolCalls?(value: boolean): Fields;
  serviceTier?(value: string): Fields;
  logprobs?(value: boolean | number): Fields;
};

const level: ProviderOptions = { effort: toLevelOption };
const parallel: ProviderOptions = { parallelToolCalls: (parallelToolCalls) => ({ parallelToolCalls }) };
const tier: ProviderOptions = { serviceTier: (serviceTier) => ({ serviceTier }) };
const openAi: ProviderOptions = { ...level, ...parallel, ...tier, logprobs: (logprobs) => ({ logprobs }) };
const google: ProviderOptions = {
  effort: (effort) => ({
    thinkingConfig:
      effort === "none" ? { thinkingBudget: 0 } : { thinkingBudget: toBudget(effort), includeThoughts: true },
  }),
};

const providerOptions: { readonly [provider: string]: ProviderOptions } = {
  openai: openAi,
  azure: openAi,
  anthropic: {
    effort: toClaudeOptions,
    parallelToolCalls: (value) => ({ disableParallelToolUse: !value }),
  },
  google,
  vertex: google,
  groq: { ...level, ...parallel, ...tier },
  mistral: { ...level, ...parallel },
  xai: level,
};

/** Packages for compatible servers share this option. */
function toLevelOption(effort: Effort, model: string): Fields {
  const reasoningEffort = findLevel(model, effort);
  return reasoningEffort === undefined ? {} : { reasoningEffort };
}

/** OpenAI's models get a level that they accept, others the nearest of the common ones. */
function findLevel(model: string, effort: Effort): string | undefined {
  const wanted = findReasoning(model) === undefined ? toCommonLevel(effort) : effort;
  return resolveOpenAiEffort(model, { effort: wanted }, false);
}

function toClaudeOptions(value: Effort, model: string): Fields {
  const claude = findClaudeTraits(model);
  const { thinking = "budget", off = "omitted" } = claude ?? {};
  if (value === "none") return off === "disabled" ? { thinking: { type: "disabled" } } : {};
  if (thinking === "none") return {};
  if (claude && thinking === "adaptive")
    return { thinking: { type: "adaptive" }, effort: findClaudeEffort(claude, value) };
  return { thinking: { type: "enabled", budgetTokens: Math.max(minThinkingBudget, toBudget(value)) } };
}

/** Returns the name that options for a model have: of its provider, and behind Vercel's gateway of the model's. */
function getOptionsKey({ provider, modelId }: AiSdkTarget): string {
  const name = provider.split(".")[0] ?? provider;
  return name === "gateway" ? (modelId.split("/")[0] ?? name) : name;
}

function findOptions(target: AiSdkTarget): ProviderOptions | undefined {
  const key = getOptionsKey(target);
  return Object.hasOwn(providerOptions, key) ? providerOptions[key] : undefined;
}

/** Builds the call options for the settings of a request. */
export function buildAiSdkSettings(request: ModelRequest, target: AiSdkTarget): Fields {
  const { settings = {}, maxOutputTokens = 0 } = request;
  const { temperature, topP, stop, seed } = settings;
  const limit = Math.max(maxOutputTokens, settings.maxOutputTokens ?? 0);
  const effort = resolveEffort(request, target);
  const level =
    target.version === "v4" && effort !== undefined ? findLevel(target.modelId, effort) : undefined;
  const options = { ...buildProviderOptions(request, target, effort), ...settings.extra };
  return {
    ...(limit > 0 && { maxOutputTokens: limit }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stopSequences: typeof stop === "string" ? [stop] : [...stop] }),
    ...(seed !== undefined && { seed }),
    ...(level !== undefined && { reasoning: level }),
    ...(Object.keys(options).length > 0 && { providerOptions: { [getOptionsKey(target)]: options } }),
  };
}

/** A wish to think is one for the medium level of a model that is known to reason. */
function resolveEffort(
  { thinking, settings = {} }: ModelRequest,
  { modelId }: AiSdkTarget,
): Effort | undefined {
  return settings.effort ?? (thinking && findReasoning(modelId) ? "medium" : undefined);
}

function buildProviderOptions(
  { settings = {}, tools }: ModelRequest,
  target: AiSdkTarget,
  effort: Effort | undefined,
): Fields {
  const { version, modelId } = target;
  const known = findOptions(target) ?? level;
  const { parallelToolCalls, serviceTier, logprobs } = settings;
  const { effort: order = "none" } = settings;
  const wantsSummary = order !== "none" && findReasoning(modelId) !== false;
  return {
    ...(version !== "v4" && effort !== undefined && known.effort?.(effort, modelId)),
    ...(known === openAi && wantsSummary && { reasoningSummary: "auto" }),
    ...(parallelToolCalls !== undefined && tools.length > 0 && known.parallelToolCalls?.(parallelToolCalls)),
    ...(serviceTier !== undefined && known.serviceTier?.(serviceTier)),
    ...(logprobs !== undefined && logprobs !== false && known.logprobs?.(logprobs)),
  };
}

/** Lists the settings that a model of the AI SDK cannot follow, if its provider is known. */
export function listAiSdkLimits(target: AiSdkTarget): readonly Limit[] {
  const known = findOptions(target);
  const own = "set the provider's own option in `extra`, if it has one";
  const toLimit = (field: keyof ModelSettings, applies: NonNullable<Limit["applies"]>): Limit => ({
    field,
    effect: field === "logprobs" ? "refused" : "ignored",
    applies,
    reason: own,
  });
  return [
    toLimit("parallelToolCalls", (value) => value === false && !known?.parallelToolCalls),
    toLimit("serviceTier", () => !known?.serviceTier),
    toLimit("logprobs", (value) => value !== false && !known?.logprobs),
    toLimit("cache", (value) => value !== "short"),
    createEffortLimit(target, known),
  ];
}

function createEffortLimit({ version }: AiSdkTarget, known: ProviderOptions | undefined): Limit {
  if (version !== "v4" && !known)
    return {
      field: "effort",
      effect: "ignored",
      reason: `the specification ${version} has no effort; the option reasoningEffort is sent, which its provider may ignore`,
    };
  const findSentLevel = (effort: Effort, model: string) =>
    version === "v4" ? findLevel(model, effort) : Object.values(known?.effort?.(effort, model) ?? {}).at(-1);
  const hasBudgets = version !== "v4" && known?.effort !== toLevelOption;
  return {
    field: "effort",
    effect: "ignored",
    applies: (effort, _settings, model) =>
      (typeof effort === "number" && !hasBudgets) ||
      (isAboveHigh(effort) && findSentLevel(effort, model) !== effort) ||
      (effort !== "none" && findReasoning(model) === false),
    reason: "the nearest of its levels is used, if it has levels",
  };
}
