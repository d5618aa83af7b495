import { isRecord } from "../../base/json.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { getRequired } from "../wire.ts";

const schemasByName = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const schemas = ["items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"];
const schemaLists = ["anyOf", "oneOf", "allOf", "prefixItems"];

/** Bounds the recursion, because a schema may refer to itself. */
const maxDepth = 8;

/**
 * Converts a tool's schema for function calling without strict mode: the root is an object with properties and without
 * `anyOf`, `oneOf`, `allOf`, `enum`, `not` or `$ref`, and every array has `items`. The runtime still validates calls
 * with the full schema.
 */
export function toFunctionParameters(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...root } = adaptToFunction(schema) as JsonSchema;
  return flattenRoot(root, root, 0);
}

function flattenRoot(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  const { $ref, anyOf, oneOf, allOf, enum: _, not: __, ...rest } = schema;
  const target = typeof $ref === "string" ? resolvePointer($ref, root) : undefined;
  const flattenParts = (parts: readonly unknown[]) =>
    depth < maxDepth ? parts.filter(isRecord).map((part) => flattenRoot(part, root, depth + 1)) : [];
  const some = flattenParts([anyOf, oneOf].filter(Array.isArray).flat());
  const all = flattenParts([...(Array.isArray(allOf) ? allOf : []), target]);
  const required = [rest, ...all].flatMap(getRequired);
  const common = getRequired(some[0]).filter((name) =>
    some.every((part) => getRequired(part).includes(name)),
  );
  const needed = [...new Set([...required, ...common])];
  const properties = Object.assign({}, ...[...some, ...all, rest].map((part) => part.properties));
  const description = rest.description ?? all.find((part) => part.description !== undefined)?.description;
  return {
    ...rest,
    ...(description !== undefined && { description }),
    type: "object",
    properties,
    ...((needed.length > 0 || rest.required !== undefined) && { required: needed }),
  };
}

function resolvePointer(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let value: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isRecord(value) ? value : undefined;
}

function adaptToFunction(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const isArray = schema.type === "array" || (Array.isArray(schema.type) && schema.type.includes("array"));
  const copy: Record<string, unknown> = { ...schema };
  for (const key of schemas) if (isRecord(copy[key])) copy[key] = adaptToFunction(copy[key]);
  for (const key of schemaLists) if (Array.isArray(copy[key])) copy[key] = copy[key].map(adaptToFunction);
  for (const key of schemasByName) {
    const named = copy[key];
    if (isRecord(named))
      copy[key] = Object.fromEntries(
        Object.entries(named).map(([name, value]) => [name, adaptToFunction(value)]),
      );
  }
  if (isArray && copy.items === undefined) copy.items = {};
  return copy;
}
