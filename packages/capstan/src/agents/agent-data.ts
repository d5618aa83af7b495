import { suggestName } from "../base/definition.ts";
import { AgentError, describeThrown } from "../base/errors.ts";
import { escapeInvisible } from "../base/escape-text.ts";
import { isRecord } from "../base/json.ts";
import { checkPolicy, type PolicyOverrides } from "../kernel/policy.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import { findNamedProblems, type SettingProblem } from "../kernel/settings/support.ts";
import { checkPolicyLimits, type PolicyLimits } from "./policy-limits.ts";
import { findSettingsProblem, type SettingsLimits } from "./settings-limits.ts";

/** An agent as plain data, which users can create, store, exchange and edit without code. */
export type AgentData = {
  /** Version of this format. */
  readonly format: 1;
  readonly name: string;
  /** One sentence about the agent's purpose. Users choose by it, and it is part of the model's instructions. */
  readonly description?: string;
  /** Additional instructions, used as constraints. */
  readonly prompt?: string;
  /** A model name, or several as a fallback chain. Default: the first model that stored agents may use. */
  readonly model?: string | readonly string[];
  /** Tool names, from the tools that stored agents may use. */
  readonly tools?: readonly string[];
  /** Names of the sources that its tools may search. */
  readonly sources?: readonly string[];
  /** Names of the coded or stored agents it can hand off to. */
  readonly handoffs?: readonly string[];
  readonly policy?: PolicyOverrides;
  /** What to ask of the model. Without `extra`, which could change any part of the request. */
  readonly settings?: Omit<ModelSettings, "extra">;
};

/** Names and limits that agent data is validated against. */
export type AllowedNames = {
  readonly tools: readonly string[];
  readonly sources: readonly string[];
  /** Undefined allows any `provider/model`; the agent must then name one. */
  readonly models: readonly string[] | undefined;
  readonly coded: readonly string[];
  /** Coded and stored agents. */
  readonly agents: readonly string[];
  /** The loosest allowed policy. */
  readonly limits: PolicyLimits;
  readonly settingsLimits: SettingsLimits;
};

const fields: readonly (keyof AgentData)[] = [
  ...([
    "format",
    "name",
    "description",
    "prompt",
    "model",
    "tools",
    "sources",
    "handoffs",
    "policy",
    "settings",
  ] as const),
];
const maxNameLength = 128;
const maxNames = 100;
const maxProblems = 5;

/** Returns the data if it is valid. Throws `invalid_input` naming the agent and its problems. */
export function validateAgentData(value: unknown, allowed: AllowedNames): AgentData {
  const problem = findAgentProblem(value, allowed);
  if (problem === undefined) return value as AgentData;
  const name = isRecord(value) && typeof value.name === "string" ? ` ${formatJsonValue(value.name)}` : "";
  throw new AgentError("invalid_input", `The agent${name} is not valid: ${problem}`);
}

/** Returns the problems as sentences that start with their field, or undefined for valid data. */
export function findAgentProblem(value: unknown, allowed: AllowedNames): string | undefined {
  const problems: string[] = [];
  for (const problem of checkAgentData(value, allowed)) {
    if (problems.length === maxProblems) return `${problems.join(" ")} There are more problems.`;
    problems.push(/[.?]$/.test(problem) ? problem : `${problem}.`);
  }
  return problems.length === 0 ? undefined : problems.join(" ");
}

// A generator, so that validation of hostile data stops after the first few problems.
function* checkAgentData(value: unknown, allowed: AllowedNames): Generator<string> {
  if (!isRecord(value)) return yield `it must be an object with the fields ${fields.join(", ")}`;
  if (value.format !== 1)
    return yield `format must be 1, not ${formatJsonValue(value.format)}: other formats are not supported`;
  for (const field of Object.keys(value))
    if (!(fields as readonly string[]).includes(field))
      yield `Unknown field ${formatJsonValue(field)}.${suggestName(field, fields)}`;
  yield* checkName(value.name, allowed);
  for (const field of ["description", "prompt"] as const)
    if (value[field] !== undefined && typeof value[field] !== "string") yield `${field} must be a string`;
  yield* checkModel(value.model, allowed);
  yield* checkNames("tools", value.tools, { noun: "tool", allowed: allowed.tools });
  yield* checkNames("sources", value.sources, { noun: "source", allowed: allowed.sources });
  yield* checkNames("handoffs", value.handoffs, { noun: "agent", allowed: allowed.agents });
  if (Array.isArray(value.handoffs) && value.handoffs.includes(value.name))
    yield "handoffs: an agent cannot hand off to itself";
  yield* checkAgentPolicy(value.policy, allowed.limits);
  yield* checkAgentSettings(value, allowed);
}

function* checkName(name: unknown, { coded }: AllowedNames): Generator<string> {
  if (typeof name !== "string" || !name.trim()) return yield "name is missing";
  if (name.length > maxNameLength) yield `name has ${name.length} characters; the limit is ${maxNameLength}`;
  if (name.trim() !== name) yield "name must not start or end with whitespace";
  if (escapeInvisible(name) !== name)
    yield `name contains invisible characters: ${escapeInvisible(formatJsonValue(name))}`;
  if (coded.includes(name))
    yield `name: ${formatJsonValue(name)} is the name of a coded agent; choose another name`;
}

function* checkModel(model: unknown, { models }: AllowedNames): Generator<string> {
  if (model === undefined) {
    if (!models) yield "model is missing: use provider/model";
    return;
  }
  const chain: readonly unknown[] = Array.isArray(model) ? model : [model];
  if (chain.length === 0 || chain.length > maxNames)
    return yield `model must be one name or a list of 1 to ${maxNames}`;
  for (const name of chain)
    if (typeof name !== "string")
      yield `model must be a name or a list of names, not ${formatJsonValue(name)}`;
    else if (!models && !/^[^\s/]+\/\S+$/.test(name))
      yield `model: ${formatJsonValue(name)} is not a model name: use provider/model`;
    else if (models && !models.includes(name))
      yield `model: ${formatJsonValue(name)} is not allowed for stored agents.${suggestName(name, models)} Allowed models: ${models.join(", ")}`;
}

type NameCheck = { readonly noun: string; readonly allowed: readonly string[] };

function* checkNames(field: string, value: unknown, { noun, allowed }: NameCheck): Generator<string> {
  if (value === undefined) return;
  if (!Array.isArray(value) || value.length > maxNames)
    return yield `${field} must be a list of at most ${maxNames} names`;
  for (const [index, name] of value.entries()) {
    const where = `${field}[${index}]`;
    if (typeof name !== "string") yield `${where} must be a name, not ${formatJsonValue(name)}`;
    else if (value.indexOf(name) !== index) yield `${where}: ${formatJsonValue(name)} is listed twice`;
    else if (!allowed.includes(name))
      yield `${where}: unknown ${noun} ${formatJsonValue(name)}.${suggestName(name, allowed)}`;
  }
}

function* checkAgentPolicy(policy: unknown, limits: PolicyLimits): Generator<string> {
  if (policy === undefined) return;
  if (!isRecord(policy)) return yield "policy must be an object";
  try {
    checkPolicy(policy);
  } catch (thrown) {
    return yield describeThrown(thrown, "invalid_input").message;
  }
  yield* checkPolicyLimits(policy, limits);
}

function* checkAgentSettings(
  { settings = {}, policy, tools, model }: Readonly<Record<string, unknown>>,
  { models = [], settingsLimits }: AllowedNames,
): Generator<string> {
  const thinks = isRecord(policy) && policy.thinking === "on" && isRecord(settings);
  const problem = findSettingsProblem(thinks ? { effort: "medium", ...settings } : settings, settingsLimits);
  if (problem !== undefined) return yield problem;
  const { toolChoice, extra } = settings as ModelSettings;
  if (extra !== undefined) yield "settings.extra is for agents in code: it can change any part of a request";
  if (isRecord(toolChoice) && !(Array.isArray(tools) && tools.includes(toolChoice.tool)))
    yield `settings.toolChoice: the agent has no tool ${formatJsonValue(toolChoice.tool)}`;
  for (const { field, message, isError } of findModelProblems(
    { model, settings: settings as ModelSettings },
    models,
  ))
    if (isError) yield `settings.${field}: ${message}`;
}

/** Returns the settings that one of the agent's models ignores or refuses. */
export function findModelProblems(
  { model, settings = {} }: { readonly model?: unknown; readonly settings?: ModelSettings },
  [defaultModel]: readonly string[],
): readonly SettingProblem[] {
  const chain = [model ?? defaultModel].flat().filter((name) => typeof name === "string");
  return chain.flatMap((name) => findNamedProblems(name, settings));
}

function formatJsonValue(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`;
}
