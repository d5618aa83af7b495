import { suggestName } from "../definition.ts";
import { AgentError, describeThrown } from "../errors.ts";
import { escapeInvisible } from "../escape-text.ts";
import { isRecord } from "../json.ts";
import { checkPolicy, type PolicyOverrides } from "../policy.ts";
import { beyond, type PolicyLimits } from "./policy-limits.ts";

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
export type Known = {
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
const longestName = 128;
const mostNames = 100;
const mostProblems = 5;

/** The data, when it is that of an agent. Throws `invalid_input` that names the agent and what is wrong with it. */
export function checkedAgentData(value: unknown, known: Known): AgentData {
  const problem = agentProblem(value, known);
  if (problem === undefined) return value as AgentData;
  const name = isRecord(value) && typeof value.name === "string" ? ` ${shown(value.name)}` : "";
  throw new AgentError("invalid_input", `The agent${name} is not valid: ${problem}`);
}

/** What is wrong with the data of an agent, in sentences; undefined when nothing is. */
export function agentProblem(value: unknown, known: Known): string | undefined {
  const found: string[] = [];
  for (const problem of problemsOf(value, known)) {
    if (found.length === mostProblems) return `${found.join(" ")} And more.`;
    found.push(/[.?]$/.test(problem) ? problem : `${problem}.`);
  }
  return found.length === 0 ? undefined : found.join(" ");
}

// A generator, so that a hostile file costs no more than the first few of its mistakes.
function* problemsOf(value: unknown, known: Known): Generator<string> {
  if (!isRecord(value)) return yield `it must be an object with ${fields.join(", ")}`;
  if (value.format !== 1)
    return yield `format must be 1, not ${shown(value.format)}: another form needs another version of the program`;
  for (const field of Object.keys(value))
    if (!(fields as readonly string[]).includes(field))
      yield `Unknown field ${shown(field)}.${suggestName(field, fields)}`;
  yield* nameProblems(value.name, known);
  for (const field of ["description", "prompt"] as const)
    if (value[field] !== undefined && typeof value[field] !== "string") yield `${field} must be a text`;
  yield* modelProblems(value.model, known);
  yield* listProblems("tools", value.tools, { one: "tool", known: known.tools });
  yield* listProblems("sources", value.sources, { one: "source", known: known.sources });
  yield* listProblems("handoffs", value.handoffs, { one: "agent", known: known.agents });
  if (Array.isArray(value.handoffs) && value.handoffs.includes(value.name))
    yield "handoffs: an agent cannot hand off to itself";
  yield* policyProblems(value.policy, known.limits);
}

function* nameProblems(name: unknown, { coded }: Known): Generator<string> {
  if (typeof name !== "string" || !name.trim()) return yield "name is missing: an agent needs a name";
  if (name.length > longestName) yield `name has ${name.length} characters, and ${longestName} are allowed`;
  if (name.trim() !== name) yield "name must not begin or end with a space";
  if (escapeInvisible(name) !== name)
    yield `name has characters that cannot be seen: ${escapeInvisible(shown(name))}`;
  if (coded.includes(name)) yield `name: ${shown(name)} is the name of a coded agent: choose another`;
}

function* modelProblems(model: unknown, { models }: Known): Generator<string> {
  if (model === undefined) {
    if (!models) yield "model is missing: name one as provider/model";
    return;
  }
  const chain: readonly unknown[] = Array.isArray(model) ? model : [model];
  if (chain.length === 0 || chain.length > mostNames)
    return yield `model must be one name or a list of 1 to ${mostNames}`;
  for (const name of chain)
    if (typeof name !== "string") yield `model must be a name or a list of names, not ${shown(name)}`;
    else if (!models && !/^[^\s/]+\/\S+$/.test(name))
      yield `model: ${shown(name)} is not a model: write it as provider/model`;
    else if (models && !models.includes(name))
      yield `model: stored agents may not use ${shown(name)}.${suggestName(name, models)} They may use ${models.join(", ")}`;
}

type Naming = { readonly one: string; readonly known: readonly string[] };

function* listProblems(field: string, value: unknown, { one, known }: Naming): Generator<string> {
  if (value === undefined) return;
  if (!Array.isArray(value) || value.length > mostNames)
    return yield `${field} must be a list of at most ${mostNames} names`;
  for (const [index, name] of value.entries()) {
    const where = `${field}[${index}]`;
    if (typeof name !== "string") yield `${where} must be a name, not ${shown(name)}`;
    else if (value.indexOf(name) !== index) yield `${where}: ${shown(name)} is named twice`;
    else if (!known.includes(name))
      yield `${where}: there is no ${one} named ${shown(name)} here.${suggestName(name, known)}`;
  }
}

function* policyProblems(policy: unknown, limits: PolicyLimits): Generator<string> {
  if (policy === undefined) return;
  if (!isRecord(policy)) return yield "policy must be an object";
  try {
    checkPolicy(policy);
  } catch (thrown) {
    return yield describeThrown(thrown, "invalid_input").message;
  }
  yield* beyond(policy, limits);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`;
}
