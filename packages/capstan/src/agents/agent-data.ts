import { suggestName } from "../definition.ts";
import { AgentError, describeThrown } from "../errors.ts";
import { escapeInvisible } from "../escape-text.ts";
import { isRecord } from "../json.ts";
import { checkPolicy, type PolicyOverrides } from "../policy.ts";
import { checkPolicyLimits, type PolicyLimits } from "./policy-limits.ts";

/** An agent as data: what a person can make, store, send and change without code. */
export type AgentData = {
  /** The version of this form. */
  readonly format: 1;
  readonly name: string;
  /** What it is for, in a sentence: people choose by it, and the model reads it as who it is. */
  readonly description?: string;
  /** What it must and must not do, in the words of whoever made it. */
  readonly prompt?: string;
  /** The name of a model, or of several as a fallback chain. Left out: the first one that stored agents may use. */
  readonly model?: string | readonly string[];
  /** By name, from those that stored agents may use. */
  readonly tools?: readonly string[];
  /** Where its tools may look, by name. */
  readonly sources?: readonly string[];
  /** The agents that it may hand off to, coded or stored, by name. */
  readonly handoffs?: readonly string[];
  readonly policy?: PolicyOverrides;
};

/** What the data of an agent may name. */
export type AllowedNames = {
  readonly tools: readonly string[];
  readonly sources: readonly string[];
  /** Undefined: any `provider/model`, and one must be named. */
  readonly models: readonly string[] | undefined;
  readonly coded: readonly string[];
  /** Coded and stored ones. */
  readonly agents: readonly string[];
  /** What its policy may not go beyond. */
  readonly limits: PolicyLimits;
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
  ] as const),
];
const maxNameLength = 128;
const maxNames = 100;
const maxProblems = 5;

/** The data, when it is that of an agent. Throws `invalid_input` that names the agent and what is wrong with it. */
export function validateAgentData(value: unknown, allowed: AllowedNames): AgentData {
  const problem = findAgentProblem(value, allowed);
  if (problem === undefined) return value as AgentData;
  const name = isRecord(value) && typeof value.name === "string" ? ` ${formatJsonValue(value.name)}` : "";
  throw new AgentError("invalid_input", `The agent${name} is not valid: ${problem}`);
}

/** What is wrong with the data of an agent, in sentences; undefined when nothing is. */
export function findAgentProblem(value: unknown, allowed: AllowedNames): string | undefined {
  const problems: string[] = [];
  for (const problem of checkAgentData(value, allowed)) {
    if (problems.length === maxProblems) return `${problems.join(" ")} And more.`;
    problems.push(/[.?]$/.test(problem) ? problem : `${problem}.`);
  }
  return problems.length === 0 ? undefined : problems.join(" ");
}

// A generator, so that a hostile file costs no more than the first few of its mistakes.
function* checkAgentData(value: unknown, allowed: AllowedNames): Generator<string> {
  if (!isRecord(value)) return yield `it must be an object with ${fields.join(", ")}`;
  if (value.format !== 1)
    return yield `format must be 1, not ${formatJsonValue(value.format)}: another form needs another version of the program`;
  for (const field of Object.keys(value))
    if (!(fields as readonly string[]).includes(field))
      yield `Unknown field ${formatJsonValue(field)}.${suggestName(field, fields)}`;
  yield* checkName(value.name, allowed);
  for (const field of ["description", "prompt"] as const)
    if (value[field] !== undefined && typeof value[field] !== "string") yield `${field} must be a text`;
  yield* checkModel(value.model, allowed);
  yield* checkNames("tools", value.tools, { noun: "tool", allowed: allowed.tools });
  yield* checkNames("sources", value.sources, { noun: "source", allowed: allowed.sources });
  yield* checkNames("handoffs", value.handoffs, { noun: "agent", allowed: allowed.agents });
  if (Array.isArray(value.handoffs) && value.handoffs.includes(value.name))
    yield "handoffs: an agent cannot hand off to itself";
  yield* checkAgentPolicy(value.policy, allowed.limits);
}

function* checkName(name: unknown, { coded }: AllowedNames): Generator<string> {
  if (typeof name !== "string" || !name.trim()) return yield "name is missing: an agent needs a name";
  if (name.length > maxNameLength)
    yield `name has ${name.length} characters, and ${maxNameLength} are allowed`;
  if (name.trim() !== name) yield "name must not begin or end with a space";
  if (escapeInvisible(name) !== name)
    yield `name has characters that cannot be seen: ${escapeInvisible(formatJsonValue(name))}`;
  if (coded.includes(name))
    yield `name: ${formatJsonValue(name)} is the name of a coded agent: choose another`;
}

function* checkModel(model: unknown, { models }: AllowedNames): Generator<string> {
  if (model === undefined) {
    if (!models) yield "model is missing: name one as provider/model";
    return;
  }
  const chain: readonly unknown[] = Array.isArray(model) ? model : [model];
  if (chain.length === 0 || chain.length > maxNames)
    return yield `model must be one name or a list of 1 to ${maxNames}`;
  for (const name of chain)
    if (typeof name !== "string")
      yield `model must be a name or a list of names, not ${formatJsonValue(name)}`;
    else if (!models && !/^[^\s/]+\/\S+$/.test(name))
      yield `model: ${formatJsonValue(name)} is not a model: write it as provider/model`;
    else if (models && !models.includes(name))
      yield `model: stored agents may not use ${formatJsonValue(name)}.${suggestName(name, models)} They may use ${models.join(", ")}`;
}

type NameCheck = { readonly noun: string; readonly allowed: readonly string[] };

function* checkNames(field: string, value: unknown, { noun, allowed }: NameCheck): Generator<string> {
  if (value === undefined) return;
  if (!Array.isArray(value) || value.length > maxNames)
    return yield `${field} must be a list of at most ${maxNames} names`;
  for (const [index, name] of value.entries()) {
    const where = `${field}[${index}]`;
    if (typeof name !== "string") yield `${where} must be a name, not ${formatJsonValue(name)}`;
    else if (value.indexOf(name) !== index) yield `${where}: ${formatJsonValue(name)} is named twice`;
    else if (!allowed.includes(name))
      yield `${where}: there is no ${noun} named ${formatJsonValue(name)} here.${suggestName(name, allowed)}`;
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

function formatJsonValue(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`;
}
