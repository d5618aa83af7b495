import { isRecord, type Json } from "capstan";
import { type AnswerFieldSpec, buildFields, type FieldValues } from "./answer-fields.ts";

export type ParsedArguments = { readonly input: Json } | { readonly problem: string };

type Arguments = Readonly<Record<string, Json>>;

const maxLineLength = 60;

/**
 * Builds a form for the arguments of a call: from the schema of the tool, and from the values for arguments that it does
 * not name. Returns undefined if the arguments are not an object, or there is nothing to edit.
 */
export function buildArgumentFields(input: Json, schema?: unknown): readonly AnswerFieldSpec[] | undefined {
  if (!isRecord(input)) return undefined;
  const given = input as Arguments;
  const isObject = isRecord(schema) && isRecord(schema.properties);
  const declared = isObject ? buildFields({ ...schema, type: "object" }, false) : [];
  const names = new Set(declared.map(({ name }) => name));
  const others = Object.entries(given).filter(([name]) => !names.has(name));
  const fields = [
    ...declared.map((field) =>
      Object.hasOwn(given, field.name) ? fitField(field, given[field.name] as Json) : field,
    ),
    ...others.map(([name, value]) => ({ name, label: name, isRequired: true, type: pickType(value) })),
  ];
  return fields.length > 0 ? fields : undefined;
}

/** A value that the control of a field cannot show is edited as JSON. */
function fitField(field: AnswerFieldSpec, value: Json): AnswerFieldSpec {
  const { name, label, isRequired, description } = field;
  const common = { name, label, isRequired, ...(description !== undefined && { description }) };
  if (field.type === "choice")
    return findChoice(field.choices, value) === "" ? { ...common, type: "json" } : field;
  const type = pickType(value);
  if (field.type === "text" && type === "lines") return { ...common, type };
  return field.type === type ? field : { ...common, type: "json" };
}

function pickType(value: Json): "text" | "lines" | "number" | "boolean" | "json" {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  if (typeof value !== "string") return "json";
  return value.includes("\n") || value.length > maxLineLength ? "lines" : "text";
}

function findChoice(choices: readonly Json[], value: Json): string {
  const index = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(value));
  return index === -1 ? "" : String(index);
}

/** Returns the arguments as the texts of the form. */
export function toFieldValues(fields: readonly AnswerFieldSpec[], input: Json): FieldValues {
  const given = Object(input) as Arguments;
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      Object.hasOwn(given, field.name) ? formatValue(field, given[field.name] as Json) : "",
    ]),
  );
}

function formatValue(field: AnswerFieldSpec, value: Json): string {
  if (field.type === "choice") return findChoice(field.choices, value);
  const isText = field.type === "text" || field.type === "lines";
  return isText && typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}

type EditedFields = {
  readonly fields: readonly AnswerFieldSpec[];
  readonly values: FieldValues;
  /** The arguments before the edit. */
  readonly input: Json;
};

/** Parses the form. An empty text is a value, if the call has that argument: `replace: ""` removes something. */
export function parseFieldValues({ fields, values, input }: EditedFields): ParsedArguments {
  const parsed: Record<string, Json> = {};
  for (const field of fields) {
    const { name, label } = field;
    const text = values[name] ?? "";
    const isText = field.type === "text" || field.type === "lines";
    if (text === "" && !(isText && Object.hasOwn(Object(input), name))) {
      if (!field.isRequired) continue;
      if (field.type !== "boolean") return { problem: `“${label}” is required.` };
    }
    const value = parseValue(field, text);
    if (value === undefined)
      return { problem: `“${label}” ${field.type === "number" ? "must be a number" : "is not valid JSON"}.` };
    parsed[name] = value;
  }
  return { input: parsed };
}

function parseValue(field: AnswerFieldSpec, text: string): Json | undefined {
  if (field.type === "text" || field.type === "lines") return text;
  if (field.type === "boolean") return text === "true";
  if (field.type === "choice") return field.choices[Number(text)];
  const value = parseJsonText(text);
  return field.type === "number" && typeof value !== "number" ? undefined : value;
}

export function parseJsonText(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
