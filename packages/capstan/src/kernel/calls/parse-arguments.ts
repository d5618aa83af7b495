import { isRecord, type Json } from "../../base/json.ts";

export const maxArgumentCharacters = 1_000_000;
/** How deep lists and objects may be nested. */
export const maxArgumentDepth = 64;

export type JsonObject = { readonly [key: string]: Json };

export type ParsedArguments =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problem: string };

/** Parses the arguments of a call. Empty text counts as `{}`; the schema decides whether that is valid. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, input: {} };
  if (text.length > maxArgumentCharacters)
    return rejectArguments(`they have ${text.length} characters; the limit is ${maxArgumentCharacters}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return rejectArguments(
      `they are not valid JSON (${error instanceof Error ? error.message : "unknown reason"})`,
    );
  }
  if (!isRecord(value))
    return rejectArguments(
      `they must be a JSON object, not ${value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`}`,
    );
  const problem = findLimitProblem(value);
  return problem ? rejectArguments(problem) : { ok: true, input: value as JsonObject };
}

function rejectArguments(problem: string): ParsedArguments {
  return { ok: false, problem };
}

/** Finds a reason to reject arguments whatever the schema says. */
export function findLimitProblem(value: unknown): string | undefined {
  return findProblemAt(value, maxArgumentDepth);
}

function findProblemAt(value: unknown, depth: number): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value))
    return "they hold a number too large to represent";
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return `they are nested deeper than ${maxArgumentDepth} levels`;
  // Copying an own "__proto__" by assignment would change the prototype of the copy.
  if (Object.hasOwn(value, "__proto__")) return 'they hold the key "__proto__"';
  for (const member of Object.values(value)) {
    const problem = findProblemAt(member, depth - 1);
    if (problem) return problem;
  }
  return undefined;
}
