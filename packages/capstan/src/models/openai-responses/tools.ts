import { isRecord } from "../../base/json.ts";
import type { ToolSpec } from "../../kernel/model.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { createToolNames, filterRecords, getRequired, hashShort, type ToolNames } from "../wire.ts";

const maxIdLength = 64;

export const responsesToolNames: ToolNames = createToolNames(/^[\w-]{1,64}$/, /[^\w-]/g);

/** Shortens an id to 64 characters; different ids stay different. */
export function toWireId(id: string): string {
  return id.length <= maxIdLength ? id : truncateWithSuffix(id, `_${hashShort(id)}`, maxIdLength);
}

function truncateWithSuffix(text: string, suffix: string, maxLength: number): string {
  return text.slice(0, maxLength - suffix.length) + suffix;
}

const serializedTools = new WeakMap<ToolSpec, string>();

export function serializeFunctionTool(tool: ToolSpec): string {
  let json = serializedTools.get(tool);
  if (json === undefined) {
    json = JSON.stringify({
      type: "function",
      name: responsesToolNames.registerName(tool.name),
      description: tool.description,
      parameters: toFunctionSchema(tool.input),
      strict: false, // the API defaults to true, which rejects optional properties
      ...(tool.defer && { defer_loading: true }),
    });
    serializedTools.set(tool, json);
  }
  return json;
}

/**
 * Converts a schema to a form the API accepts for function arguments: the root is an object with properties and no
 * union, every array has `items`, no schema is a boolean. The runtime still validates with the full schema.
 */
export function toFunctionSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _schema, ...root } = resolveRootReference(schema);
  return { ...adaptKeywords(flattenUnions(root)), type: "object" };
}

function resolveRootReference(schema: JsonSchema): JsonSchema {
  const { $ref, ...rest } = schema;
  const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref ?? "")) ?? [];
  const definitions = keyword === undefined ? undefined : schema[keyword];
  const target = isRecord(definitions) && name !== undefined ? definitions[name] : undefined;
  if (!isRecord(target)) return $ref === undefined ? schema : rest;
  return { ...target, ...rest };
}

/** Merges the properties of all alternatives; requires only what every alternative requires. */
function flattenUnions(root: JsonSchema): JsonSchema {
  const { anyOf, oneOf, allOf, not: _not, enum: _enum, const: _const, ...rest } = root;
  const alternatives = [...filterRecords(anyOf), ...filterRecords(oneOf)].map(flattenUnions);
  const conditions = filterRecords(allOf).map(flattenUnions);
  const properties: Record<string, unknown> = isRecord(rest.properties) ? { ...rest.properties } : {};
  for (const condition of conditions) Object.assign(properties, condition.properties);
  for (const { properties: alternativeProperties } of alternatives) {
    for (const [name, schema] of Object.entries(
      isRecord(alternativeProperties) ? alternativeProperties : {},
    )) {
      const known = properties[name];
      const isNew = known === undefined || JSON.stringify(known) === JSON.stringify(schema);
      properties[name] = isNew ? schema : { anyOf: [...getUnionMembers(known), schema] };
    }
  }
  const [first = [], ...others] = alternatives.map(getRequired);
  const shared = first.filter((name) => others.every((names) => names.includes(name)));
  const required = [...new Set([...getRequired(rest), ...conditions.flatMap(getRequired), ...shared])];
  return { ...rest, properties, ...(required.length > 0 && { required }) };
}

function getUnionMembers(schema: unknown): readonly unknown[] {
  const isUnion = isRecord(schema) && Array.isArray(schema.anyOf) && Object.keys(schema).length === 1;
  return isUnion ? (schema.anyOf as unknown[]) : [schema];
}

const schemaMapKeywords = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const schemaListKeywords = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const schemaKeywords = new Set(["items", "not", "if", "then", "else", "contains", "propertyNames"]);

function adaptKeywords(schema: JsonSchema): JsonSchema {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (schemaMapKeywords.has(keyword) && isRecord(value))
      result[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, adaptMember(member)]),
      );
    else if (schemaListKeywords.has(keyword) && Array.isArray(value))
      result[keyword] = value.map(adaptMember);
    else if (schemaKeywords.has(keyword)) result[keyword] = adaptMember(value);
    else if (keyword === "additionalProperties" && isRecord(value)) result[keyword] = adaptKeywords(value);
    else result[keyword] = value;
  }
  const isArray = schema.type === "array" || (Array.isArray(schema.type) && schema.type.includes("array"));
  if (isArray && result.items === undefined) result.items = {};
  return result;
}

function adaptMember(member: unknown): unknown {
  if (member === true) return {};
  if (member === false) return { not: {} };
  return isRecord(member) ? adaptKeywords(member) : member;
}

const strictKeywords = new Set(
  "type properties required additionalProperties items enum const anyOf $ref $defs description title".split(
    " ",
  ),
);

/** Whether strict mode accepts this schema unchanged: all properties required, no additional ones, few keywords. */
export function isStrict(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (!Object.keys(schema).every((keyword) => strictKeywords.has(keyword))) return false;
  const { properties, items, anyOf, $defs } = schema;
  if (schema.type === "object" || properties !== undefined) {
    const required = getRequired(schema);
    const names = isRecord(properties) ? Object.keys(properties) : [];
    if (schema.additionalProperties !== false || names.some((name) => !required.includes(name))) return false;
  }
  const members = [properties, $defs].flatMap((map) => (isRecord(map) ? Object.values(map) : []));
  if (items !== undefined) members.push(items);
  if (Array.isArray(anyOf)) members.push(...anyOf);
  return members.every(isStrict);
}
