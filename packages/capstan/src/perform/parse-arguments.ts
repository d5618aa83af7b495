import { isRecord, type Json } from "../json.ts";

export const mostCharacters = 1_000_000;
/** How many lists and objects may be inside each other. */
export const mostDepth = 64;

export type JsonObject = { readonly [key: string]: Json };

export type ParsedArguments =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problem: string };

/** The arguments of a call, from the text a model wrote. An empty text is `{}`; the schema decides whether that will do. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, input: {} };
  if (text.length > mostCharacters)
    return refuse(`they have ${text.length} characters; ${mostCharacters} is the most`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`they are not valid JSON (${error instanceof Error ? error.message : "unknown reason"})`);
  }
  if (!isRecord(value))
    return refuse(
      `they must be a JSON object, not ${value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`}`,
    );
  const problem = limitProblem(value);
  return problem ? refuse(problem) : { ok: true, input: value as JsonObject };
}

function refuse(problem: string): ParsedArguments {
  return { ok: false, problem };
}

/** Why a value may not be anybody's arguments, whatever the schema says. */
export function limitProblem(value: unknown): string | undefined {
  return problemIn(value, mostDepth);
}

function problemIn(value: unknown, depth: number): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value))
    return "they hold a number too large to represent";
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return `they are nested deeper than ${mostDepth} levels`;
  // An own "__proto__" would change the prototype of whatever it is assigned to.
  if (Object.hasOwn(value, "__proto__")) return 'they hold the key "__proto__"';
  for (const member of Object.values(value)) {
    const problem = problemIn(member, depth - 1);
    if (problem) return problem;
  }
  return undefined;
}
