import { isRecord, type Json } from "../../base/json.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { filterRecords, getRequired } from "../wire.ts";

/**
 * Converts a tool's schema to the form the API accepts: an object at the root, without `anyOf`, `oneOf`, `allOf` or
 * `$ref` there, and with property names of 1 to 64 plain characters. Anything else moves into the description; the
 * runtime still validates calls with the full schema.
 */
export function toToolInputSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _schema, $id: _id, ...given } = resolveRootRef(schema, schema, 8);
  const { anyOf, oneOf, allOf, ...root } = given;
  const branches = [...filterRecords(anyOf), ...filterRecords(oneOf)].map((branch) =>
    resolveRootRef(branch, schema, 8),
  );
  const every = filterRecords(allOf).map((part) => resolveRootRef(part, schema, 8));
  const parts = [root, ...every, ...branches];
  const properties: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [key, property] of parts.flatMap((part) => getEntries(part.properties))) {
    if (/^[\w.-]{1,64}$/.test(key)) properties[key] = mergeProperty(properties[key], property);
    else notes.push(`Additional property ${JSON.stringify(key)}: ${JSON.stringify(property)}.`);
  }
  for (const [keyword, value] of [...getEntries({ anyOf, oneOf, allOf })]) {
    if (value !== undefined) notes.push(`The arguments must match ${keyword}: ${JSON.stringify(value)}.`);
  }
  const required = [
    ...new Set([root, ...every].flatMap(getRequired).concat(intersect(branches.map(getRequired)))),
  ];
  const description = [root.description, ...notes].filter((text) => typeof text === "string").join("\n");
  return {
    ...root,
    type: "object",
    ...((root.properties !== undefined || Object.keys(properties).length > 0) && { properties }),
    ...(required.length > 0 && { required: required.filter((key) => Object.hasOwn(properties, key)) }),
    ...(description && { description }),
  };
}

/** Resolves a `$ref` at the root and merges its sibling keywords. */
function resolveRootRef(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  const { $ref, ...beside } = schema;
  if (typeof $ref !== "string") return schema;
  const target = depth > 0 && $ref !== "#" ? resolvePointer($ref, root) : undefined;
  return target ? { ...resolveRootRef(target, root, depth - 1), ...beside } : beside;
}

function resolvePointer(ref: string, root: JsonSchema): JsonSchema | undefined {
  if (!ref.startsWith("#/")) return undefined;
  let value: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isRecord(value) ? value : undefined;
}

function mergeProperty(known: unknown, property: unknown): unknown {
  if (known === undefined || JSON.stringify(known) === JSON.stringify(property)) return property;
  if (known === true || (isRecord(known) && Object.keys(known).length === 0)) return property;
  const before = isRecord(known) && Object.keys(known).length === 1 && Array.isArray(known.anyOf);
  return { anyOf: [...(before ? (known.anyOf as unknown[]) : [known]), property] };
}

function intersect(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return first.filter((key) => others.every((list) => list.includes(key)));
}

function getEntries(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

const formats = "date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" ");
const keptKeywords = new Set(["title", "description", "enum", "const", "default", "$ref"]);
const unsupportedKeywords = [
  "patternProperties",
  "not",
  "if",
  "dependentSchemas",
  "prefixItems",
  "propertyNames",
];

/**
 * Converts an output schema to the subset that the API enforces; other constraints move into the descriptions. Returns
 * undefined if the subset cannot express the schema (maps with free keys, recursion); the instructions describe it.
 */
export function toOutputSchema(schema: JsonSchema): JsonSchema | undefined {
  const { $schema: _schema, $id: _id, ...root } = schema;
  try {
    return isRecursive(schema) ? undefined : adaptOutputSchema(root, maxDepth);
  } catch (thrown) {
    if (thrown === unsupportedSchema) return undefined;
    throw thrown;
  }
}

const maxDepth = 64;
const unsupportedSchema = new Error("This schema is outside the supported subset.");

function adaptOutputSchema(schema: unknown, depth: number): JsonSchema {
  if (!isRecord(schema) || depth === 0) throw unsupportedSchema;
  if (unsupportedKeywords.some((keyword) => keyword in schema)) throw unsupportedSchema;
  const { type, $defs, definitions } = schema;
  const adaptMember = (member: unknown) => adaptOutputSchema(member, depth - 1);
  const defs = {
    ...($defs !== undefined && { $defs: mapMembers($defs, adaptMember) }),
    ...(definitions !== undefined && { definitions: mapMembers(definitions, adaptMember) }),
  };
  if (typeof schema.$ref === "string") return { $ref: schema.$ref, ...defs };
  if (Array.isArray(type)) {
    const { type: _type, $defs: _defs, definitions: _definitions, description, ...rest } = schema;
    const choices = type.map((member) => adaptMember(narrowToType(rest, member)));
    return { anyOf: choices, ...(description !== undefined && { description }), ...defs };
  }
  const result: Record<string, unknown> = { ...(type !== undefined && { type }), ...defs };
  const limits: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "anyOf" || keyword === "oneOf") result.anyOf = assertList(value).map(adaptMember);
    else if (keyword === "allOf") result.allOf = assertList(value).map(adaptMember);
    else if (keyword === "properties") result.properties = mapMembers(value, adaptMember);
    else if (keyword === "items") result.items = adaptMember(value);
    else if (keyword === "required" || keptKeywords.has(keyword)) result[keyword] = value;
    else if (keyword === "format" && formats.includes(value as string)) result.format = value;
    else if (keyword === "minItems" && (value === 0 || value === 1)) result.minItems = value;
    else if (!(keyword in result) && keyword !== "additionalProperties" && !keyword.startsWith("$"))
      limits.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  if (type === "object") closeObject(result, schema);
  if (limits.length > 0)
    result.description = [schema.description, `{${limits.join(", ")}}`].filter(Boolean).join("\n");
  return result;
}

/** The API forbids additional properties, so an object that needs free keys is not supported. */
function closeObject(
  result: Record<string, unknown>,
  { additionalProperties, properties }: JsonSchema,
): void {
  const isOpen =
    additionalProperties === undefined ? properties === undefined : additionalProperties !== false;
  if (isOpen) throw unsupportedSchema;
  result.additionalProperties = false;
}

function narrowToType(schema: JsonSchema, type: unknown): JsonSchema {
  if (type === "null") return { type };
  if (!Array.isArray(schema.enum)) return { ...schema, type };
  return { ...schema, type, enum: (schema.enum as Json[]).filter((value) => value !== null) };
}

function mapMembers(value: unknown, change: (member: unknown) => JsonSchema): JsonSchema {
  return Object.fromEntries(getEntries(value).map(([key, member]) => [key, change(member)]));
}

function assertList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unsupportedSchema;
  return value;
}

/** True for a `$ref` that does not resolve, or that leads back to itself. */
function isRecursive(schema: JsonSchema): boolean {
  const visit = (value: unknown, ancestors: readonly string[]): boolean => {
    if (Array.isArray(value)) return value.some((member) => visit(member, ancestors));
    if (!isRecord(value)) return false;
    const { $ref } = value;
    if (typeof $ref === "string") {
      const target =
        ancestors.includes($ref) || ancestors.length > maxDepth ? undefined : resolvePointer($ref, schema);
      if (!target || visit(target, [...ancestors, $ref])) return true;
    }
    return getEntries(value).some(
      ([key, member]) => !/^(\$defs|definitions)$/.test(key) && visit(member, ancestors),
    );
  };
  return visit(schema, []);
}
