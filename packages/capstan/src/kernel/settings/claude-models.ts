import { type EffortLevel, isAboveHigh, toLevel } from "./effort.ts";
import { type Limit, levelsOnly } from "./limit.ts";
import type { Effort, ModelSettings } from "./settings.ts";

/** What a Claude model accepts. It depends on the version, and the API rejects a request with anything else. */
export type ClaudeTraits = {
  /** `adaptive`: the model decides how much it thinks, guided by an effort. `budget`: a number of tokens does. */
  readonly thinking: "none" | "budget" | "both" | "adaptive";
  /** How thinking is turned off: by omitting it, with a type of `thinking`, or not at all. */
  readonly off: "omitted" | "disabled" | "between_tools" | "never";
  readonly thinksByDefault: boolean;
  /** Which levels above `high` it has. */
  readonly highLevels: readonly ("xhigh" | "max")[];
  /** How many of temperature and top-p a request may have. */
  readonly sampling: "both" | "one" | "none";
  /** Whether a tool choice may force a call. */
  readonly acceptsForcedCalls: boolean;
};

export type ClaudeName = { readonly family: string; readonly version: number };

/** Parses names such as `claude-3-7-sonnet-20250219`, `claude-opus-4-6` and `us.anthropic.claude-sonnet-5-v1:0`. */
export function parseClaudeName(model: string): ClaudeName | undefined {
  if (model.includes("claude-mythos-preview")) return { family: "mythos", version: 4.9 };
  const name =
    /claude-(?<family>[a-z]+)-(?<major>\d+)(?:[-.](?<minor>\d{1,2})(?!\d))?/.exec(model) ??
    /claude-(?<major>\d)(?:[-.](?<minor>\d)(?!\d))?(?:-(?<family>[a-z]+))?/.exec(model);
  if (!name?.groups) return undefined;
  const { family = "", major, minor = "0" } = name.groups;
  return { family, version: Number(major) + Number(minor) / 10 };
}

/** Returns the traits of a Claude model, undefined for another model behind the same API. */
export function findClaudeTraits(model: string): ClaudeTraits | undefined {
  const name = parseClaudeName(model);
  if (!name) return undefined;
  const { family, version } = name;
  const isPreview = model.includes("claude-mythos-preview");
  const isLarge = family === "fable" || family === "mythos";
  const thinksByDefault = isLarge || version >= 5;
  return {
    thinking: version < 3.7 ? "none" : version < 4.6 ? "budget" : version < 4.7 ? "both" : "adaptive",
    off: thinksByDefault ? getOffSwitch(family, version) : "omitted",
    thinksByDefault,
    highLevels: version < 4.6 ? [] : version < 4.7 || isPreview ? ["max"] : ["xhigh", "max"],
    sampling: version < 4 ? "both" : version < 4.7 ? "one" : "none",
    acceptsForcedCalls: version < (isLarge ? 5.1 : 5.5) || family === "haiku",
  };
}

function getOffSwitch(family: string, version: number): ClaudeTraits["off"] {
  if (family === "fable" || family === "mythos") return "never";
  if (version < 5.5 || family === "haiku") return "disabled";
  return family === "sonnet" ? "between_tools" : "never";
}

/** False for names as in Bedrock (`us.anthropic.claude-…`) and Vertex (`claude-…@20251001`). */
export function hasServiceTiers(model: string): boolean {
  return !/anthropic\.|@/.test(model);
}

/** Returns the level to request of a model that has levels. It is never higher than the one that was asked for. */
export function findClaudeEffort({ highLevels }: ClaudeTraits, effort: Effort): EffortLevel {
  const level = toLevel(effort);
  return isAboveHigh(level) && !highLevels.includes(level) ? "high" : level;
}

/** The smallest budget that the API accepts. */
export const minThinkingBudget = 1024;

const isThinking = ({ effort }: ModelSettings, { thinking }: ClaudeTraits): boolean =>
  effort !== undefined && effort !== "none" && thinking !== "none";

/** Creates a limit that depends on the traits of the model; it does not apply to other models. */
function createClaudeLimit(
  field: Limit["field"],
  reason: string,
  applies: (claude: ClaudeTraits, settings: ModelSettings) => boolean,
): Limit {
  return {
    field,
    effect: field === "toolChoice" ? "refused" : "ignored",
    reason,
    applies: (_value, settings, model) => {
      const claude = findClaudeTraits(model);
      return claude !== undefined && applies(claude, settings);
    },
  };
}

const sampling: readonly Limit[] = (["temperature", "topP"] as const).flatMap((field) => [
  createClaudeLimit(field, "the model chooses its own sampling", (claude) => claude.sampling === "none"),
  createClaudeLimit(
    field,
    "the API rejects it while the model thinks; set the effort to none to use it",
    (claude, settings) => claude.sampling !== "none" && isThinking(settings, claude),
  ),
]);

/** For clouds, which use some of Anthropic's model names. */
export const noServiceTiers: Limit = {
  field: "serviceTier",
  effect: "ignored",
  reason: "only Anthropic itself has tiers",
};

/** What Anthropic's API cannot do. */
export const claudeLimits: readonly Limit[] = [
  { field: "seed", effect: "ignored", reason: "answers are not repeatable" },
  {
    field: "logprobs",
    effect: "refused",
    applies: (value) => value !== false,
    reason: "no model reports them",
  },
  {
    field: "stop",
    effect: "refused",
    applies: (value) => [value].flat().some((text) => String(text).trim() === ""),
    reason: "a stop text needs a character that is not white space",
  },
  {
    field: "serviceTier",
    effect: "ignored",
    applies: (value, _settings, model) => value === "flex" && hasServiceTiers(model),
    reason: "there is no such tier; use a batch for lower prices",
  },
  { ...noServiceTiers, applies: (_value, _settings, model) => !hasServiceTiers(model) },
  ...sampling,
  createClaudeLimit(
    "temperature",
    "the highest temperature is 1, which is used instead",
    (claude, { temperature = 0, ...settings }) =>
      temperature > 1 && claude.sampling !== "none" && !isThinking(settings, claude),
  ),
  createClaudeLimit(
    "topP",
    "the API accepts either a temperature or a topP; the temperature is used",
    (claude, settings) =>
      claude.sampling === "one" && settings.temperature !== undefined && !isThinking(settings, claude),
  ),
  createClaudeLimit("effort", "the model does not reason", (claude, settings) => {
    return claude.thinking === "none" && settings.effort !== "none";
  }),
  createClaudeLimit(
    "effort",
    "the model always thinks; its lowest effort is used",
    (claude, { effort }) => effort === "none" && claude.off === "never",
  ),
  createClaudeLimit(
    "effort",
    "the effort high is used instead",
    ({ thinking, highLevels }, { effort }) =>
      isAboveHigh(effort) && thinking !== "none" && !highLevels.includes(effort),
  ),
  createClaudeLimit(
    "effort",
    levelsOnly.reason,
    (claude, { effort }) => typeof effort === "number" && claude.thinking === "adaptive",
  ),
  createClaudeLimit(
    "effort",
    `the smallest budget is ${minThinkingBudget} tokens, which is used instead`,
    (claude, { effort }) =>
      typeof effort === "number" && effort < minThinkingBudget && /budget|both/.test(claude.thinking),
  ),
  createClaudeLimit(
    "toolChoice",
    'no request can force a call; use "auto" and ask for the call in the instructions',
    ({ acceptsForcedCalls }, { toolChoice }) =>
      !acceptsForcedCalls && toolChoice !== "auto" && toolChoice !== "none",
  ),
];
