import { isRecord } from "../../base/json.ts";
import type { JsonSchema } from "../../schema/schema.ts";

/**
 * Converts a schema to the subset that `parametersJsonSchema` and `responseJsonSchema` accept. Other keywords move into
 * the description; the runtime still validates values with the full schema.
 */
export function toGeminiSchema(schema: JsonSchema): JsonSchema {
  return adaptToGemini(schema);
}

/** Converts a tool's schema; its root must be an object. */
export function toGeminiParameters(schema: JsonSchema): JsonSchema {
  const { $ref, ...adapted } = adaptToGemini(schema);
  const name = typeof $ref === "string" ? $ref.replace("#/$defs/", "") : undefined;
  const target = name !== undefined && isRecord(adapted.$defs) ? adapted.$defs[name] : undefined;
  return { type: "object", ...adapted, ...(isRecord(target) && target) };
}

const keptKeywords = new Set([
  ..."$id $anchor type format title description minItems maxItems minimum maximum required".split(" "),
  "propertyOrdering",
]);
const describedKeywords = new Set(
  "pattern minLength maxLength exclusiveMinimum exclusiveMaximum multipleOf uniqueItems default const".split(
    " ",
  ),
);
/** Keywords that hold lists or maps of schemas, with Gemini's names for them. */
const lists = new Map([
  ["anyOf", "anyOf"],
  ["oneOf", "anyOf"],
  ["prefixItems", "prefixItems"],
]);
const maps = new Map([
  ["properties", "properties"],
  ["$defs", "$defs"],
  ["definitions", "$defs"],
]);

function adaptToGemini(schema: unknown): Record<string, unknown> {
  if (!isRecord(schema)) return {};
  // Next to a reference only keywords that start with "$" are accepted.
  if (typeof schema.$ref === "string") {
    const definitions = schema.$defs ?? schema.definitions;
    return {
      $ref: schema.$ref.replace("#/definitions/", "#/$defs/"),
      ...(isRecord(definitions) && { $defs: adaptEach(definitions) }),
    };
  }
  const result: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [keyword, value] of Object.entries(mergeAllOf(schema))) {
    const map = maps.get(keyword);
    const list = lists.get(keyword);
    if (map && isRecord(value)) result[map] = adaptEach(value);
    else if (list && Array.isArray(value)) result[list] = value.map(adaptToGemini);
    else if (keyword === "items") result.items = adaptToGemini(value);
    else if (keyword === "additionalProperties")
      result.additionalProperties = typeof value === "boolean" ? value : adaptToGemini(value);
    else if (keyword === "enum" && isEnum(value)) result.enum = value;
    else if (keyword === "const" && isEnum([value])) result.enum = [value];
    else if (keptKeywords.has(keyword)) result[keyword] = value;
    else if (describedKeywords.has(keyword)) notes.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  if (notes.length > 0) {
    const before = typeof result.description === "string" ? `${result.description} ` : "";
    result.description = `${before}(${notes.join(", ")})`;
  }
  return result;
}

function adaptEach(schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, adaptToGemini(schema)]));
}

function isEnum(values: unknown): boolean {
  return (
    Array.isArray(values) && values.every((value) => typeof value === "string" || typeof value === "number")
  );
}

/** `allOf` is not supported: its members are merged if they are plain objects. */
function mergeAllOf(schema: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...rest } = schema;
  const members = allOf.filter(isRecord).map(mergeAllOf);
  const joined: Record<string, unknown> = Object.assign({}, ...members, rest);
  const all = [rest, ...members];
  const properties = all.flatMap((member) => (isRecord(member.properties) ? [member.properties] : []));
  const required = all.flatMap((member) => (Array.isArray(member.required) ? member.required : []));
  if (properties.length > 0) joined.properties = Object.assign({}, ...properties);
  if (required.length > 0) joined.required = [...new Set(required)];
  return joined;
}
