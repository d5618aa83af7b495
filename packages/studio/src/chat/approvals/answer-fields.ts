import type { Json } from "capstan";

/** A field of an answer form. `json` is the fallback for any other schema. */
export type AnswerFieldSpec = {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
} & (
  | { readonly type: "text" | "lines" | "number" | "boolean" | "json" }
  | { readonly type: "choice"; readonly choices: readonly Json[] }
);

/** Field contents as text. A choice stores its index. */
export type FieldValues = Readonly<Record<string, string>>;

/** Field name when the answer is not an object. */
const wholeAnswer = "";

/** Builds the form fields for an answer schema. */
export function buildFields(schema: unknown, allowsAnyAnswer: boolean): readonly AnswerFieldSpec[] {
  const { type, properties, required } = Object(schema) as Record<string, unknown>;
  if (schema === undefined)
    return allowsAnyAnswer
      ? [{ type: "json", name: wholeAnswer, label: "Answer (text or JSON)", isRequired: true }]
      : [];
  if (type !== "object" || typeof properties !== "object" || properties === null)
    return [toField(wholeAnswer, schema, true)];
  const requiredNames = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, property]) =>
    toField(name, property, requiredNames.includes(name)),
  );
}

function toField(name: string, schema: unknown, isRequired: boolean): AnswerFieldSpec {
  const definition = Object(schema) as Record<string, unknown>;
  const toText = (value: unknown) => (typeof value === "string" ? value : undefined);
  const description = toText(definition.description);
  const common = {
    name,
    label: toText(definition.title) ?? (name || "Answer"),
    isRequired,
    ...(description !== undefined && { description }),
  };
  if (Array.isArray(definition.enum))
    return { ...common, type: "choice", choices: definition.enum as Json[] };
  if (definition.type === "string") return { ...common, type: "text" };
  if (definition.type === "number" || definition.type === "integer") return { ...common, type: "number" };
  if (definition.type === "boolean") return { ...common, type: "boolean" };
  return { ...common, type: "json" };
}

export function createEmptyValues(fields: readonly AnswerFieldSpec[]): FieldValues {
  return Object.fromEntries(fields.map(({ name, type }) => [name, type === "boolean" ? "false" : ""]));
}

type AnswerResult = { readonly value: Json | undefined; readonly problem?: string };

/** Parses the form into an answer, or returns a problem that names the field. */
export function parseAnswer(fields: readonly AnswerFieldSpec[], values: FieldValues): AnswerResult {
  if (fields.length === 0) return { value: undefined };
  const answer: Record<string, Json> = {};
  for (const field of fields) {
    const toText = values[field.name] ?? "";
    if (toText === "" && !field.isRequired) continue;
    if (toText === "") return { value: undefined, problem: `“${field.label}” is required.` };
    const value = parseFieldValue(field, toText);
    if (value === undefined) return { value: undefined, problem: `“${field.label}” must be a number.` };
    answer[field.name] = value;
  }
  return { value: fields[0]?.name === wholeAnswer ? (answer[wholeAnswer] ?? null) : answer };
}

function parseFieldValue(field: AnswerFieldSpec, toText: string): Json | undefined {
  if (field.type === "boolean") return toText === "true";
  if (field.type === "number") return Number.isFinite(Number(toText)) ? Number(toText) : undefined;
  if (field.type === "choice") return field.choices[Number(toText)];
  if (field.type === "text" || field.type === "lines") return toText;
  try {
    return JSON.parse(toText) as Json;
  } catch {
    return toText; // plain text needs no quotes
  }
}
