import type { Json } from "capstan";

/** One thing that is asked for. `json`: anything else, written as JSON. */
export type Field = {
  readonly name: string;
  readonly label: string;
  readonly about?: string;
  readonly isNeeded: boolean;
} & (
  | { readonly type: "text" | "number" | "boolean" | "json" }
  | { readonly type: "choice"; readonly choices: readonly Json[] }
);

/** What is in the fields, as text; of a choice the number of the chosen one. */
export type Values = Readonly<Record<string, string>>;

/** The name of the only field when the answer is no object. */
const whole = "";

/** The fields for an answer of this schema. */
export function fieldsOf(schema: unknown, isFree: boolean): readonly Field[] {
  const { type, properties, required } = Object(schema) as Record<string, unknown>;
  if (schema === undefined)
    return isFree ? [{ type: "json", name: whole, label: "Answer (text or JSON)", isNeeded: true }] : [];
  if (type !== "object" || typeof properties !== "object" || properties === null)
    return [fieldOf(whole, schema, true)];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, own]) => fieldOf(name, own, needed.includes(name)));
}

function fieldOf(name: string, schema: unknown, isNeeded: boolean): Field {
  const given = Object(schema) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const about = text(given.description);
  const common = {
    name,
    label: text(given.title) ?? (name || "Answer"),
    isNeeded,
    ...(about !== undefined && { about }),
  };
  if (Array.isArray(given.enum)) return { ...common, type: "choice", choices: given.enum as Json[] };
  if (given.type === "string") return { ...common, type: "text" };
  if (given.type === "number" || given.type === "integer") return { ...common, type: "number" };
  if (given.type === "boolean") return { ...common, type: "boolean" };
  return { ...common, type: "json" };
}

/** Before anything was said. */
export function emptyValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map(({ name, type }) => [name, type === "boolean" ? "false" : ""]));
}

type Made = { readonly value: Json | undefined; readonly problem?: string };

/** The answer that the fields make; a problem says which one is wrong. */
export function answerOf(fields: readonly Field[], values: Values): Made {
  if (fields.length === 0) return { value: undefined };
  const made: Record<string, Json> = {};
  for (const field of fields) {
    const text = values[field.name] ?? "";
    if (text === "" && !field.isNeeded) continue;
    if (text === "") return { value: undefined, problem: `“${field.label}” is missing.` };
    const value = parsed(field, text);
    if (value === undefined) return { value: undefined, problem: `“${field.label}” is not a number.` };
    made[field.name] = value;
  }
  return { value: fields[0]?.name === whole ? (made[whole] ?? null) : made };
}

function parsed(field: Field, text: string): Json | undefined {
  if (field.type === "boolean") return text === "true";
  if (field.type === "number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (field.type === "choice") return field.choices[Number(text)];
  if (field.type === "text") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text; // words need no quotes
  }
}
