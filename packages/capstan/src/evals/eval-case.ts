import { formatValue, suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import { type RunInput, readInput } from "../runtime/input.ts";

/** A call that a case expects: the name of its tool, or also a part of its input. */
export type ExpectedCall = string | { readonly name: string; readonly input?: Json };

/** One case of a dataset: an input, and what a good run of it looks like. */
export type EvalCase = {
  /** Unique in its dataset; at most 120 characters. */
  readonly id: string;
  readonly input: RunInput;
  /** The context of the run. */
  readonly context?: Json;
  /** The expected answer: a text, or the value of a structured answer. */
  readonly expected?: Json;
  /** The expected calls, in order. */
  readonly calls?: readonly ExpectedCall[];
  /** Tools that must not be executed. `*` at the end of a name matches any ending. */
  readonly forbidden?: readonly string[];
  readonly notes?: string;
  readonly tags?: readonly string[];
  /** The run that the case was saved from, and its agent; recorded tools answer from it. */
  readonly source?: { readonly runId: string; readonly sessionId: string; readonly agent?: string };
};

export const caseFields: readonly (keyof EvalCase)[] = [
  "id",
  "input",
  "context",
  "expected",
  "calls",
  "forbidden",
  "notes",
  "tags",
  "source",
];

/** Longer ids would not fit into the id of a record. */
export const maxCaseIdLength = 120;

/** Checks a case that comes from a file, a request or code. `owner` names it in errors. Throws `invalid_input`. */
export function readCase(value: unknown, owner: string): EvalCase {
  const reject = (problem: string, hint = ""): never => {
    throw new AgentError("invalid_input", `${owner} cannot be used: ${problem}.${hint}`);
  };
  if (!isRecord(value)) return reject(`it must be an object, not ${formatValue(value)}`);
  for (const field of Object.keys(value))
    if (!(caseFields as readonly string[]).includes(field))
      return reject(`it has the unknown field "${field}"`, suggestName(field, caseFields));
  const { id, input, calls, forbidden, notes, tags, source } = value;
  if (typeof id !== "string" || id.trim() === "" || id.length > maxCaseIdLength)
    return reject(`its id must be a text of 1 to ${maxCaseIdLength} characters, not ${formatValue(id)}`);
  if (input === undefined || input === "") return reject("it has no input");
  readInput(input as RunInput);
  if (calls !== undefined && !(Array.isArray(calls) && calls.every(isExpectedCall)))
    return reject("its calls must be a list of tool names, or of objects with a name and an input");
  if (!isTextList(forbidden)) return reject("its forbidden tools must be a list of names");
  if (!isTextList(tags)) return reject("its tags must be a list of texts");
  if (notes !== undefined && typeof notes !== "string") return reject("its notes must be a text");
  if (source !== undefined && !isSource(source))
    return reject("its source must have a runId and a sessionId");
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as EvalCase;
}

/** Checks the cases of a dataset or an eval: each one, and that no id occurs twice. */
export function readCases(values: unknown, owner: string): readonly EvalCase[] {
  if (!Array.isArray(values))
    throw new AgentError(
      "invalid_input",
      `The cases of ${owner} must be a list, not ${formatValue(values)}.`,
    );
  const cases = values.map((value, index) => readCase(value, `Case ${index + 1} of ${owner}`));
  const ids = new Set<string>();
  for (const { id } of cases) {
    if (ids.has(id))
      throw new AgentError("invalid_input", `Two cases of ${owner} have the id "${id}": rename one.`);
    ids.add(id);
  }
  return cases;
}

function isSource(source: unknown): boolean {
  if (!isRecord(source) || typeof source.runId !== "string" || typeof source.sessionId !== "string")
    return false;
  return source.agent === undefined || typeof source.agent === "string";
}

function isExpectedCall(call: unknown): boolean {
  return typeof call === "string" || (isRecord(call) && typeof call.name === "string");
}

function isTextList(list: unknown): boolean {
  return list === undefined || (Array.isArray(list) && list.every((item) => typeof item === "string"));
}
