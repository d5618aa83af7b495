import { isRecord } from "../../json.ts";
import type { ToolSpec } from "../../model.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { shortHash, type ToolNames, toolNames } from "../wire.ts";

const longestName = 64;

export const responsesToolNames: ToolNames = toolNames(/^[\w-]{1,64}$/, /[^\w-]/g);

/** At most `longest` characters; different texts stay different. */
export function sentId(id: string): string {
  return id.length <= longestName ? id : shortened(id, `_${shortHash(id)}`, longestName);
}

function shortened(text: string, ending: string, longest: number): string {
  return text.slice(0, longest - ending.length) + ending;
}

const written = new WeakMap<ToolSpec, string>();

export function toolJson(tool: ToolSpec): string {
  let json = written.get(tool);
  if (json === undefined) {
    json = JSON.stringify({
      type: "function",
      name: responsesToolNames.offered(tool.name),
      description: tool.description,
      parameters: functionSchema(tool.input),
      strict: false, // left out it means true here, which refuses optional properties
    });
    written.set(tool, json);
  }
  return json;
}

/**
 * A schema that the API takes for the arguments of a function: its root is an object with properties and no union,
 * every array has items, no schema is a boolean. What is lost by it is checked by the runtime.
 */
export function functionSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _schema, ...root } = withoutRootReference(schema);
  return { ...adapted(flat(root)), type: "object" };
}

function withoutRootReference(schema: JsonSchema): JsonSchema {
  const { $ref, ...rest } = schema;
  const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref ?? "")) ?? [];
  const definitions = keyword === undefined ? undefined : schema[keyword];
  const target = isRecord(definitions) && name !== undefined ? definitions[name] : undefined;
  if (!isRecord(target)) return $ref === undefined ? schema : rest;
  return { ...target, ...rest };
}

/** All properties of all alternatives; required is what every alternative requires. */
function flat(root: JsonSchema): JsonSchema {
  const { anyOf, oneOf, allOf, not: _not, enum: _enum, const: _const, ...rest } = root;
  const alternatives = [...recordsIn(anyOf), ...recordsIn(oneOf)].map(flat);
  const conditions = recordsIn(allOf).map(flat);
  const properties: Record<string, unknown> = isRecord(rest.properties) ? { ...rest.properties } : {};
  for (const condition of conditions) Object.assign(properties, condition.properties);
  for (const { properties: more } of alternatives) {
    for (const [name, schema] of Object.entries(isRecord(more) ? more : {})) {
      const known = properties[name];
      const isNew = known === undefined || JSON.stringify(known) === JSON.stringify(schema);
      properties[name] = isNew ? schema : { anyOf: [...unionOf(known), schema] };
    }
  }
  const [first = [], ...others] = alternatives.map(requiredOf);
  const shared = first.filter((name) => others.every((names) => names.includes(name)));
  const required = [...new Set([...requiredOf(rest), ...conditions.flatMap(requiredOf), ...shared])];
  return { ...rest, properties, ...(required.length > 0 && { required }) };
}

function unionOf(schema: unknown): readonly unknown[] {
  const isUnion = isRecord(schema) && Array.isArray(schema.anyOf) && Object.keys(schema).length === 1;
  return isUnion ? (schema.anyOf as unknown[]) : [schema];
}

function recordsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function requiredOf({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

const mapsOfSchemas = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const listsOfSchemas = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const schemas = new Set(["items", "not", "if", "then", "else", "contains", "propertyNames"]);

function adapted(schema: JsonSchema): JsonSchema {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (mapsOfSchemas.has(keyword) && isRecord(value))
      result[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, adaptedMember(member)]),
      );
    else if (listsOfSchemas.has(keyword) && Array.isArray(value)) result[keyword] = value.map(adaptedMember);
    else if (schemas.has(keyword)) result[keyword] = adaptedMember(value);
    else if (keyword === "additionalProperties" && isRecord(value)) result[keyword] = adapted(value);
    else result[keyword] = value;
  }
  const isArray = schema.type === "array" || (Array.isArray(schema.type) && schema.type.includes("array"));
  if (isArray && result.items === undefined) result.items = {};
  return result;
}

function adaptedMember(member: unknown): unknown {
  if (member === true) return {};
  if (member === false) return { not: {} };
  return isRecord(member) ? adapted(member) : member;
}

const strictKeywords = new Set(
  "type properties required additionalProperties items enum const anyOf $ref $defs description title".split(
    " ",
  ),
);

/** Whether the API's strict mode takes this schema as it is: everything required and closed, few keywords. */
export function isStrict(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (!Object.keys(schema).every((keyword) => strictKeywords.has(keyword))) return false;
  const { properties, items, anyOf, $defs } = schema;
  if (schema.type === "object" || properties !== undefined) {
    const required = requiredOf(schema);
    const names = isRecord(properties) ? Object.keys(properties) : [];
    if (schema.additionalProperties !== false || names.some((name) => !required.includes(name))) return false;
  }
  const members = [properties, $defs].flatMap((map) => (isRecord(map) ? Object.values(map) : []));
  if (items !== undefined) members.push(items);
  if (Array.isArray(anyOf)) members.push(...anyOf);
  return members.every(isStrict);
}
