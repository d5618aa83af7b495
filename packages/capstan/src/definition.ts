import { AgentError } from "./errors.ts";
import { isRecord } from "./json.ts";
import { nearest } from "./near-names.ts";

/** What the value of a field may be, and the same in words: `use` follows "use". */
export type Allowed = { readonly use: string; fits(value: unknown): boolean };

/** Refuses fields that are not known, and values that are not allowed; one that is undefined is left out. */
export function checkDefinition(
  owner: string,
  definition: object,
  fields: Readonly<Record<string, Allowed>>,
): void {
  checkFields(owner, definition, Object.keys(fields));
  for (const [field, { fits, use }] of Object.entries(fields)) {
    const value: unknown = Reflect.get(definition, field);
    if (value === undefined || fits(value)) continue;
    throw new AgentError(
      "invalid_definition",
      `${field} of the ${owner} cannot be ${shown(value)}: use ${use}.`,
    );
  }
}

/** Refuses fields that are not known: a misspelt setting would otherwise silently do nothing. */
export function checkFields(owner: string, definition: object, known: readonly string[]): void {
  for (const field of Object.keys(definition)) {
    if (known.includes(field)) continue;
    throw new AgentError(
      "invalid_definition",
      `Unknown field "${field}" of the ${owner}.${nearest(field, known)}`,
    );
  }
}

/** For a field that is checked elsewhere, by those who read it. */
export const checkedElsewhere: Allowed = { use: "", fits: () => true };
export const flag: Allowed = { use: "true or false", fits: (value) => typeof value === "boolean" };
export const callable: Allowed = { use: "a function", fits: (value) => typeof value === "function" };
export const record: Allowed = { use: "an object", fits: isRecord };
/** Some libraries' schemas are functions. What is inside is looked at when it is read. */
export const schema: Allowed = {
  use: "a schema",
  fits: (value) => isRecord(value) || typeof value === "function",
};

export function numberFrom(least: number): Allowed {
  return { use: `a number from ${least}`, fits: (value) => isNumberFrom(least, value) };
}

export function isNumberFrom(least: number, value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= least;
}

export function oneOf(values: readonly string[]): Allowed {
  return { use: inWords(values), fits: (value) => isOneOf(values, value) };
}

export function listOf(values: readonly string[]): Allowed {
  const fits = (value: unknown) => Array.isArray(value) && value.every((member) => isOneOf(values, member));
  return { use: `a list of ${inWords(values)}`, fits };
}

function isOneOf(values: readonly string[], value: unknown): boolean {
  return typeof value === "string" && values.includes(value);
}

function inWords(values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`);
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

const longestShown = 100;

/** A value as an error message shows it: never thrown for, never endless. */
export function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  const text = asJson(value) ?? typeof value;
  return text.length > longestShown ? `${text.slice(0, longestShown).toWellFormed()}…` : text;
}

function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // circular, or with something inside that JSON does not have
  }
}
