import { isRecord } from "../../json.ts";
import type { JsonSchema } from "../../schema/schema.ts";

/**
 * A schema in the subset that `parametersJsonSchema` and `responseJsonSchema` take. What they do not know is said in
 * the description, where the model can read it; the runtime checks values against the full schema in any case.
 */
export function toGeminiSchema(schema: JsonSchema): JsonSchema {
  return adapt(schema);
}

/** The arguments of a tool are an object, and say so at the top. */
export function toGeminiParameters(schema: JsonSchema): JsonSchema {
  const { $ref, ...adapted } = adapt(schema);
  const name = typeof $ref === "string" ? $ref.replace("#/$defs/", "") : undefined;
  const target = name !== undefined && isRecord(adapted.$defs) ? adapted.$defs[name] : undefined;
  return { type: "object", ...adapted, ...(isRecord(target) && target) };
}

const kept = new Set([
  ..."$id $anchor type format title description minItems maxItems minimum maximum required".split(" "),
  "propertyOrdering",
]);
const told = new Set(
  "pattern minLength maxLength exclusiveMinimum exclusiveMaximum multipleOf uniqueItems default const".split(
    " ",
  ),
);
/** Keywords whose value is a list of schemas, or schemas by name, and what Gemini calls them. */
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

function adapt(schema: unknown): Record<string, unknown> {
  if (!isRecord(schema)) return {};
  // Beside a reference only keywords that begin with "$" are accepted.
  if (typeof schema.$ref === "string") {
    const definitions = schema.$defs ?? schema.definitions;
    return {
      $ref: schema.$ref.replace("#/definitions/", "#/$defs/"),
      ...(isRecord(definitions) && { $defs: eachOf(definitions) }),
    };
  }
  const result: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [keyword, value] of Object.entries(withoutAllOf(schema))) {
    const map = maps.get(keyword);
    const list = lists.get(keyword);
    if (map && isRecord(value)) result[map] = eachOf(value);
    else if (list && Array.isArray(value)) result[list] = value.map(adapt);
    else if (keyword === "items") result.items = adapt(value);
    else if (keyword === "additionalProperties")
      result.additionalProperties = typeof value === "boolean" ? value : adapt(value);
    else if (keyword === "enum" && isEnum(value)) result.enum = value;
    else if (keyword === "const" && isEnum([value])) result.enum = [value];
    else if (kept.has(keyword)) result[keyword] = value;
    else if (told.has(keyword)) notes.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  if (notes.length > 0) {
    const before = typeof result.description === "string" ? `${result.description} ` : "";
    result.description = `${before}(${notes.join(", ")})`;
  }
  return result;
}

function eachOf(schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, adapt(schema)]));
}

function isEnum(values: unknown): boolean {
  return (
    Array.isArray(values) && values.every((value) => typeof value === "string" || typeof value === "number")
  );
}

/** There is no `allOf`: its members are joined, as far as they are plain objects. */
function withoutAllOf(schema: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...rest } = schema;
  const members = allOf.filter(isRecord).map(withoutAllOf);
  const joined: Record<string, unknown> = Object.assign({}, ...members, rest);
  const all = [rest, ...members];
  const properties = all.flatMap((member) => (isRecord(member.properties) ? [member.properties] : []));
  const required = all.flatMap((member) => (Array.isArray(member.required) ? member.required : []));
  if (properties.length > 0) joined.properties = Object.assign({}, ...properties);
  if (required.length > 0) joined.required = [...new Set(required)];
  return joined;
}
