import { AgentError } from "./errors.ts";
import { isRecord } from "./json.ts";

/** Validates the value of a field. `hint` completes the error message "… : use <hint>". */
export type FieldRule = { readonly hint: string; accepts(value: unknown): boolean };

/** Throws `invalid_definition` for unknown fields and invalid values; undefined counts as absent. */
export function checkDefinition(
  owner: string,
  definition: object,
  fields: Readonly<Record<string, FieldRule>>,
): void {
  checkFields(owner, definition, Object.keys(fields));
  for (const [field, { accepts, hint }] of Object.entries(fields)) {
    const value: unknown = Reflect.get(definition, field);
    if (value === undefined || accepts(value)) continue;
    throw new AgentError(
      "invalid_definition",
      `${field} of the ${owner} cannot be ${formatValue(value)}: use ${hint}.`,
    );
  }
}

/** Throws `invalid_definition` for unknown fields: a misspelled setting would silently do nothing. */
export function checkFields(owner: string, definition: object, allowed: readonly string[]): void {
  for (const field of Object.keys(definition)) {
    if (allowed.includes(field)) continue;
    throw new AgentError(
      "invalid_definition",
      `Unknown field "${field}" of the ${owner}.${suggestName(field, allowed)}`,
    );
  }
}

/** Accepts anything: the field is validated elsewhere. */
export const anyValue: FieldRule = { hint: "", accepts: () => true };
export const booleanField: FieldRule = {
  hint: "true or false",
  accepts: (value) => typeof value === "boolean",
};
export const functionField: FieldRule = {
  hint: "a function",
  accepts: (value) => typeof value === "function",
};
export const objectField: FieldRule = { hint: "an object", accepts: isRecord };
/** Some libraries' schemas are functions. The schema itself is validated when it is converted. */
export const schemaField: FieldRule = {
  hint: "a schema",
  accepts: (value) => isRecord(value) || typeof value === "function",
};

export function toMinimumRule(minimum: number): FieldRule {
  return { hint: `a number from ${minimum}`, accepts: (value) => isAtLeast(minimum, value) };
}

export function isAtLeast(minimum: number, value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= minimum;
}

export function toChoiceRule(values: readonly string[]): FieldRule {
  return { hint: formatChoices(values), accepts: (value) => isChoice(values, value) };
}

export function toListRule(values: readonly string[]): FieldRule {
  const accepts = (value: unknown) =>
    Array.isArray(value) && value.every((member) => isChoice(values, member));
  return { hint: `a list of ${formatChoices(values)}`, accepts };
}

function isChoice(values: readonly string[], value: unknown): boolean {
  return typeof value === "string" && values.includes(value);
}

function formatChoices(values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`);
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

const maxValueLength = 100;

/** Formats any value for an error message. Never throws; truncates long values. */
export function formatValue(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  const text = tryStringify(value) ?? typeof value;
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength).toWellFormed()}…` : text;
}

function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // circular, or contains a value that JSON cannot represent
  }
}

/** Returns ` Did you mean "search"?` with up to three known names close to a misspelled one; empty if none is close. */
export function suggestName(name: string, known: readonly string[]): string {
  const lowerName = name.slice(0, 64).toLowerCase();
  const close = known
    .map((candidate) => ({
      candidate,
      distance: editDistance(lowerName, candidate.slice(0, 64).toLowerCase()),
    }))
    .filter(
      ({ candidate, distance }) =>
        distance < candidate.length && distance <= Math.max(2, Math.floor(candidate.length / 3)),
    )
    .sort((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map(({ candidate }) => `"${candidate}"`);
  return close.length > 0 ? ` Did you mean ${close.join(" or ")}?` : "";
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let line = 1; line <= left.length; line++) {
    const next = [line];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (left[line - 1] === right[column - 1] ? 0 : 1);
      next[column] = Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
