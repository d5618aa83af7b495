import { isRecord, type Json } from "capstan";
import type { AnswerFieldSpec, FieldValues } from "./answer-fields.ts";

export type ParsedArguments = { readonly input: Json } | { readonly problem: string };

const maxLineLength = 60;

/** Builds a form for the arguments of a call, from their values; undefined if they are not an object. */
export function buildArgumentFields(input: Json): readonly AnswerFieldSpec[] | undefined {
  if (!isRecord(input) || Object.keys(input).length === 0) return undefined;
  return Object.entries(input).map(([name, value]) => ({
    ...{ name, label: name, isRequired: true },
    type: pickType(value as Json),
  }));
}

function pickType(value: Json): "text" | "lines" | "number" | "boolean" | "json" {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  if (typeof value !== "string") return "json";
  return value.includes("\n") || value.length > maxLineLength ? "lines" : "text";
}

/** Returns the arguments as the texts of the form. */
export function toFieldValues(input: Json): FieldValues {
  return Object.fromEntries(
    Object.entries(Object(input) as Record<string, Json>).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value, undefined, 2),
    ]),
  );
}

/** Parses the form. An empty text is a value: `replace: ""` removes something. */
export function parseFieldValues(fields: readonly AnswerFieldSpec[], values: FieldValues): ParsedArguments {
  const input: Record<string, Json> = {};
  for (const { name, type } of fields) {
    const text = values[name] ?? "";
    if (type === "text" || type === "lines") {
      input[name] = text;
      continue;
    }
    const value = parseJsonText(text);
    if (value === undefined) return { problem: `“${name}” is not valid JSON.` };
    if (type === "number" && typeof value !== "number") return { problem: `“${name}” must be a number.` };
    input[name] = value;
  }
  return { input };
}

export function parseJsonText(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
