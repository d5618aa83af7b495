import type { Json, JsonSchema } from "capstan";
import { isRecord } from "capstan";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** An input field. */
export type Field = {
  /** Undefined when the whole answer is one value. */
  readonly name?: string;
  readonly label: string;
  /** Short description of valid input. */
  readonly kind: string;
  readonly isRequired: boolean;
  /** Parses the input; returns the value or the problem. */
  parse(text: string): { readonly value: Json | undefined } | { readonly problem: string };
};

/** Builds the input fields for the schema of a question. */
export function buildFields(schema: JsonSchema | undefined): readonly Field[] {
  if (schema === undefined) return [createField("Answer", {}, { isRequired: false })];
  const properties = isRecord(schema.properties) ? schema.properties : undefined;
  if (!properties || Object.keys(properties).length === 0)
    return [createField("Answer", schema, { isRequired: true })];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, given]) => {
    const own = isRecord(given) ? given : {};
    const title = typeof own.title === "string" ? own.title : name;
    const about = typeof own.description === "string" ? ` (${own.description})` : "";
    return createField(escapeTerminalLine(`${title}${about}`), own, {
      name,
      isRequired: required.includes(name),
    });
  });
}

/** Combines the field values into the answer. */
export function buildAnswer(values: readonly (readonly [Field, Json | undefined])[]): Json {
  const [first] = values;
  if (first && first[0].name === undefined) return first[1] ?? true;
  return Object.fromEntries(
    values.flatMap(([{ name = "" }, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function createField(
  label: string,
  schema: Readonly<Record<string, unknown>>,
  { name, isRequired }: { readonly name?: string; readonly isRequired: boolean },
): Field {
  const choices = findChoices(schema);
  const type = typeof schema.type === "string" ? schema.type : choices ? "choice" : "any";
  const kind = choices ? choices.map(String).map(escapeTerminalLine).join(" / ") : (kinds[type] ?? "");
  const about = { label, kind, isRequired, ...(name !== undefined && { name }) };
  return {
    ...about,
    parse(text) {
      const typed = text.trim();
      if (typed === "" && schema.default !== undefined) return { value: schema.default as Json };
      if (typed === "") return isRequired ? { problem: "Required." } : { value: undefined };
      return choices ? parseChoice(typed, choices) : parseTyped(typed, type);
    },
  };
}

const kinds: Readonly<Record<string, string>> = {
  boolean: "yes / no",
  number: "a number",
  integer: "a whole number",
  array: "JSON, or comma-separated words",
  object: "JSON",
};

function findChoices(schema: Readonly<Record<string, unknown>>): readonly Json[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum as Json[];
  if (!Array.isArray(schema.oneOf)) return undefined;
  const constants = schema.oneOf.map((one) => (isRecord(one) ? one.const : undefined));
  return constants.every((one) => one !== undefined) ? (constants as Json[]) : undefined;
}

function parseChoice(
  typed: string,
  choices: readonly Json[],
): { readonly value: Json } | { readonly problem: string } {
  const value = choices.find((choice) => String(choice).toLowerCase() === typed.toLowerCase());
  return value === undefined
    ? { problem: `Must be one of ${choices.map(String).map(escapeTerminalLine).join(", ")}.` }
    : { value };
}

function parseTyped(typed: string, type: string): { readonly value: Json } | { readonly problem: string } {
  if (type === "boolean") {
    if (/^(y|yes|true)$/i.test(typed)) return { value: true };
    return /^(n|no|false)$/i.test(typed) ? { value: false } : { problem: "Must be yes or no." };
  }
  if (type === "number" || type === "integer") {
    const value = Number(typed);
    const fits = type === "integer" ? Number.isInteger(value) : Number.isFinite(value);
    return fits
      ? { value }
      : { problem: type === "integer" ? "Must be a whole number." : "Must be a number." };
  }
  if (type === "string") return { value: typed };
  const value = parseJsonOrText(typed);
  if (type === "array" && typeof value === "string")
    return { value: typed.split(",").map((part) => part.trim()) };
  return { value };
}

/** Parses input that looks like JSON; anything else is text. */
export function parseJsonOrText(typed: string): Json {
  if (!/^[[{"]/.test(typed)) return typed;
  try {
    return JSON.parse(typed) as Json;
  } catch {
    return typed;
  }
}
