import { isRecord, type Json } from "../../json.ts";
import type { ToolSpec } from "../../model.ts";

/** One argument of a tool, as its JSON Schema tells it. */
export type Property = {
  readonly name: string;
  readonly type: "string" | "number" | "boolean" | "array" | "object";
  readonly required: boolean;
  readonly description: string;
  /** The values it may have, of a list those of its members. Empty: any. */
  readonly choices: readonly Json[];
  readonly isInteger: boolean;
  readonly wantsHex: boolean;
  readonly fallback?: Json;
};

/** The arguments of a tool, in the order of its schema. */
export function propertiesOf(tool: ToolSpec): Property[] {
  const schema: unknown = tool.input;
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  // An argument of this name could not be set on a plain object.
  const named = Object.entries(schema.properties).filter(([name]) => name !== "__proto__");
  return named.map(([name, value]) => propertyOf(name, isRecord(value) ? value : {}, required.has(name)));
}

function propertyOf(name: string, schema: Record<string, unknown>, required: boolean): Property {
  const items = isRecord(schema.items) ? schema.items : {};
  const description = typeof schema.description === "string" ? schema.description : "";
  const choices = choicesOf(schema).concat(choicesOf(items));
  const fallback = schema.default ?? (required && choices.length === 1 ? choices[0] : undefined);
  const { type, isInteger } = typeOf(schema);
  return {
    name,
    type,
    required,
    description,
    choices,
    isInteger,
    wantsHex: /hex|#[0-9a-f]{3}/iu.test(description) || String(schema.pattern ?? "").includes("^#"),
    ...(fallback !== undefined && { fallback: fallback as Json }),
  };
}

function choicesOf(schema: Record<string, unknown>): Json[] {
  if (schema.const !== undefined) return [schema.const as Json];
  if (Array.isArray(schema.enum)) return schema.enum.filter((value) => value !== null);
  const variants = schema.anyOf ?? schema.oneOf;
  return Array.isArray(variants) ? variants.filter(isRecord).flatMap(choicesOf) : [];
}

function typeOf(schema: Record<string, unknown>): Pick<Property, "type" | "isInteger"> {
  const told = Array.isArray(schema.type) ? schema.type.find((type) => type !== "null") : schema.type;
  const variants = schema.anyOf ?? schema.oneOf;
  if (told === undefined && Array.isArray(variants)) {
    const first = variants.filter(isRecord).find(({ type }) => type !== "null");
    if (first) return typeOf(first);
  }
  const type =
    told === "integer"
      ? "number"
      : told === "number" || told === "boolean" || told === "array" || told === "object"
        ? told
        : "string";
  return { type, isInteger: told === "integer" };
}
