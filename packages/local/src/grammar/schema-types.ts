import { isRecord, type JsonSchema } from "capstan";
import { isWithin, type NumberLimits } from "./number-rules.ts";

export type TypeName = "string" | "number" | "integer" | "boolean" | "array" | "object" | "null";

const keywordTypes: { readonly [keyword: string]: TypeName } = {
  ...{
    properties: "object",
    required: "object",
    additionalProperties: "object",
    patternProperties: "object",
  },
  ...{ minProperties: "object", maxProperties: "object", propertyNames: "object" },
  ...{ items: "array", prefixItems: "array", minItems: "array", maxItems: "array", uniqueItems: "array" },
  ...{ minLength: "string", maxLength: "string", pattern: "string", format: "string" },
  ...{ minimum: "number", maximum: "number", exclusiveMinimum: "number", exclusiveMaximum: "number" },
  ...{ multipleOf: "number", contains: "array" },
};
const allTypes: readonly TypeName[] = ["object", "array", "string", "number", "boolean", "null"];

/** Lists the types of a schema's values. Without `type`, keywords about one type mean that type: fewer values. */
export function listTypes(schema: JsonSchema): readonly TypeName[] {
  if (schema.type !== undefined) return [schema.type].flat() as TypeName[];
  const implied = new Set(Object.keys(schema).flatMap((keyword) => keywordTypes[keyword] ?? []));
  return implied.size > 0 ? [...implied] : allTypes;
}

/** Whether a constant matches the keywords next to it: its type, limits of numbers and texts, and the pattern. */
export function matchesConstant(schema: JsonSchema, value: unknown): boolean {
  if (schema.type !== undefined && ![schema.type].flat().some((type) => hasType(value, String(type))))
    return false;
  if (typeof value === "number") return isWithin(schema as NumberLimits, value) && isMultiple(schema, value);
  if (typeof value === "string") return matchesText(schema, value);
  if (Array.isArray(value)) return isBetween(value.length, schema.minItems, schema.maxItems);
  return true;
}

function hasType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

const isMultiple = ({ multipleOf }: JsonSchema, value: number): boolean =>
  typeof multipleOf !== "number" || Number.isInteger(value / multipleOf);

function matchesText({ minLength, maxLength, pattern }: JsonSchema, value: string): boolean {
  const matches = typeof pattern !== "string" || new RegExp(pattern, "u").test(value);
  return matches && isBetween([...value].length, minLength, maxLength);
}

const isBetween = (size: number, min: unknown, max: unknown): boolean =>
  size >= Number(min ?? 0) && size <= Number(max ?? Infinity);

export function getProperties({ properties }: JsonSchema): JsonSchema {
  return isRecord(properties) ? properties : {};
}
