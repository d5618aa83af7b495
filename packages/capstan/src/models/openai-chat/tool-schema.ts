import { isRecord } from "../../json.ts";
import type { JsonSchema } from "../../schema/schema.ts";

const schemasByName = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const schemas = ["items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"];
const schemaLists = ["anyOf", "oneOf", "allOf", "prefixItems"];

/** A schema may refer to itself. */
const mostDepth = 8;

/**
 * A tool's schema in the form that function calling takes without strict mode: the root is an object with properties
 * and without `anyOf`, `oneOf`, `allOf`, `enum`, `not` or `$ref`, and every array says what its items are. What is lost is checked when
 * the call comes: the runtime validates with the full schema.
 */
export function functionParameters(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...root } = adapted(schema) as JsonSchema;
  return flatRoot(root, root, 0);
}

function flatRoot(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  const { $ref, anyOf, oneOf, allOf, enum: _, not: __, ...rest } = schema;
  const target = typeof $ref === "string" ? resolved($ref, root) : undefined;
  const flat = (parts: readonly unknown[]) =>
    depth < mostDepth ? parts.filter(isRecord).map((part) => flatRoot(part, root, depth + 1)) : [];
  const some = flat([anyOf, oneOf].filter(Array.isArray).flat());
  const all = flat([...(Array.isArray(allOf) ? allOf : []), target]);
  const required = [rest, ...all].flatMap(requiredOf);
  const common = requiredOf(some[0]).filter((name) => some.every((part) => requiredOf(part).includes(name)));
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

function requiredOf(schema: JsonSchema | undefined): string[] {
  return Array.isArray(schema?.required) ? schema.required : [];
}

function resolved(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let value: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isRecord(value) ? value : undefined;
}

function adapted(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const isArray = schema.type === "array" || (Array.isArray(schema.type) && schema.type.includes("array"));
  const copy: Record<string, unknown> = { ...schema };
  for (const key of schemas) if (isRecord(copy[key])) copy[key] = adapted(copy[key]);
  for (const key of schemaLists) if (Array.isArray(copy[key])) copy[key] = copy[key].map(adapted);
  for (const key of schemasByName) {
    const named = copy[key];
    if (isRecord(named))
      copy[key] = Object.fromEntries(Object.entries(named).map(([name, value]) => [name, adapted(value)]));
  }
  if (isArray && copy.items === undefined) copy.items = {};
  return copy;
}
