import {
  checkDefinition,
  type FieldRule,
  formatValue,
  isAtLeast,
  suggestName,
} from "../../base/definition.ts";
import { AgentError, describeThrown } from "../../base/errors.ts";
import { isRecord, type Json } from "../../base/json.ts";
import type { Usage } from "../../base/usage.ts";

/** The levels of effort, lowest first. */
export const effortLevels = ["none", "low", "medium", "high", "xhigh", "max"] as const;

/** How much a model reasons before it answers: a level, or a budget in tokens. */
export type Effort = "none" | "low" | "medium" | "high" | "xhigh" | "max" | number;

/** Whether the model calls tools: as it sees fit, at least one, none, or one by name. */
export type ToolChoice = "auto" | "required" | "none" | { readonly tool: string };

/**
 * What a request asks of the model; the same for every provider. Unsupported ones are reported: see
 * `findSettingProblems`. The provider decides about fields that are not set.
 */
export type ModelSettings = {
  readonly effort?: Effort;
  readonly temperature?: number;
  readonly topP?: number;
  /** Texts at which the model stops; the answer does not include them. */
  readonly stop?: string | readonly string[];
  /** Makes answers repeatable, if the provider can. */
  readonly seed?: number;
  /** Maximum tokens of one answer. */
  readonly maxOutputTokens?: number;
  /**
   * As a fixed setting, `required` applies until the run has called a tool, and a name until it has called that tool:
   * otherwise the run could never answer. The result of a function applies to its turn as it is.
   */
  readonly toolChoice?: ToolChoice;
  /** False asks for at most one call per answer. */
  readonly parallelToolCalls?: boolean;
  /** Price and speed of the request: `auto`, `default`, `flex`, `priority`, or the provider's own word. */
  readonly serviceTier?: string;
  /** How long the provider keeps the prompt for later requests: not at all, some minutes (default), or hours. */
  readonly cache?: "off" | "short" | "long";
  /** Reports the probability of each token, and with a number that many alternatives. */
  readonly logprobs?: boolean | number;
  /** Fields copied into the request unchanged, for settings this library does not model. */
  readonly extra?: { readonly [field: string]: Json };
};

/** The argument of a settings function, which is called for every turn. */
export type SettingsInput = {
  readonly turn: number;
  readonly maxTurns: number | "unlimited";
  /** The calls of the run so far, in order. */
  readonly calls: readonly { readonly name: string; readonly status: string }[];
  /** The tokens that the run has used so far. */
  readonly usage: Usage;
};

/** Settings, or a pure function that returns them for a turn: it is called again when a run is repeated or resumed. */
export type SettingsSource = ModelSettings | ((turn: SettingsInput) => ModelSettings);

const levels: readonly unknown[] = effortLevels;
const toolChoices: readonly unknown[] = ["auto", "required", "none"];
const maxTokens = 1e9;
const maxStops = 16;

function toRangeRule(minimum: number, maximum: number): FieldRule {
  const accepts = (value: unknown) => isAtLeast(minimum, value) && Number(value) <= maximum;
  return { hint: `a number from ${minimum} to ${maximum}`, accepts };
}

const isTokenCount = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxTokens;
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** The values that each field accepts. */
export const settingRules: Readonly<Record<keyof ModelSettings, FieldRule>> = {
  effort: {
    hint: '"none", "low", "medium", "high", "xhigh", "max" or a number of tokens',
    accepts: (value) => levels.includes(value) || isTokenCount(value),
  },
  temperature: toRangeRule(0, 2),
  topP: toRangeRule(0, 1),
  stop: {
    hint: `a text or a list of 1 to ${maxStops} texts`,
    accepts: (value) =>
      isText(value) ||
      (Array.isArray(value) && value.length > 0 && value.length <= maxStops && value.every(isText)),
  },
  seed: { hint: "a whole number", accepts: (value) => Number.isSafeInteger(value) },
  maxOutputTokens: { hint: "a whole number from 1", accepts: isTokenCount },
  toolChoice: {
    hint: '"auto", "required", "none" or { tool: "name" }',
    accepts: (value) => toolChoices.includes(value) || (isRecord(value) && isText(value.tool)),
  },
  parallelToolCalls: { hint: "true or false", accepts: (value) => typeof value === "boolean" },
  serviceTier: { hint: "a text", accepts: isText },
  cache: {
    hint: '"off", "short" or "long"',
    accepts: (value) => value === "off" || value === "short" || value === "long",
  },
  logprobs: {
    hint: "true, false or a number of alternatives from 0 to 20",
    accepts: (value) =>
      typeof value === "boolean" || (Number.isInteger(value) && toRangeRule(0, 20).accepts(value)),
  },
  extra: { hint: "an object", accepts: isRecord },
};

export const settingNames: readonly (keyof ModelSettings)[] = Object.keys(
  settingRules,
) as (keyof ModelSettings)[];

/** Returns the settings if they are valid. Throws `invalid_definition` for unknown fields and invalid values. */
export function checkSettings(owner: string, settings: unknown): ModelSettings {
  if (!isRecord(settings)) {
    const message = `settings of the ${owner} cannot be ${formatValue(settings)}: use an object.`;
    throw new AgentError("invalid_definition", message);
  }
  checkDefinition(owner, settings, settingRules);
  return settings;
}

/** Merges layers field by field, the first that sets a field wins; the fields of `extra` are merged too. */
export function mergeSettings(...layers: readonly (ModelSettings | undefined)[]): ModelSettings {
  let merged: Record<string, unknown> = {};
  for (const layer of layers.toReversed()) {
    if (!layer) continue;
    const set = Object.entries(layer).filter(([, value]) => value !== undefined);
    const extra = { ...(merged.extra as object | undefined), ...layer.extra };
    merged = { ...merged, ...Object.fromEntries(set), ...(Object.keys(extra).length > 0 && { extra }) };
  }
  return merged;
}

/** Returns the settings of a turn: the run's, then the agent's. Throws `settings_failed` if the agent's function does. */
export function resolveSettings(
  agent: { readonly name: string; readonly settings?: SettingsSource },
  runSettings: ModelSettings | undefined,
  input: SettingsInput,
): ModelSettings {
  const { name, settings } = agent;
  const fixed = mergeSettings(runSettings, typeof settings === "function" ? undefined : settings);
  if (typeof settings !== "function") return withOpenChoice(fixed, input);
  return mergeSettings(withOpenChoice(fixed, input), callSettings(name, settings, input));
}

function callSettings(
  name: string,
  settings: (turn: SettingsInput) => ModelSettings,
  input: SettingsInput,
): ModelSettings {
  try {
    return checkSettings(`agent "${name}"`, settings(input));
  } catch (thrown) {
    const { message } = describeThrown(thrown, "settings_failed");
    const text = `The settings function of "${name}" failed in turn ${input.turn}: ${message}`;
    throw new AgentError("settings_failed", text, { cause: thrown });
  }
}

/** A fixed choice that forces a call ends when the call was made. */
function withOpenChoice(settings: ModelSettings, { calls }: SettingsInput): ModelSettings {
  const { toolChoice, ...rest } = settings;
  const isMade =
    (toolChoice === "required" && calls.length > 0) ||
    (isRecord(toolChoice) && calls.some(({ name }) => name === toolChoice.tool));
  return isMade ? rest : settings;
}

/** Throws `invalid_definition` if a fixed tool choice names no tool of the agent. */
export function checkNamedTool(owner: string, { toolChoice }: ModelSettings, tools: readonly string[]): void {
  if (!isRecord(toolChoice) || tools.includes(toolChoice.tool)) return;
  const message = `toolChoice of the ${owner} names an unknown tool: ${formatValue(toolChoice.tool)}.${suggestName(toolChoice.tool, tools)}`;
  throw new AgentError("invalid_definition", message);
}
