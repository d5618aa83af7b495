import { isRecord, type Json } from "../../json.ts";
import type { JsonSchema } from "../../schema/schema.ts";

/**
 * A tool's schema as the API takes it: an object at the root, without `anyOf`, `oneOf`, `allOf` or `$ref` there, and
 * with property names of 1 to 64 plain characters. What cannot be said so is said in the description; the call is
 * checked by the whole schema anyway.
 */
export function toolInputSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _schema, $id: _id, ...given } = atRoot(schema, schema, 8);
  const { anyOf, oneOf, allOf, ...root } = given;
  const branches = [...recordsIn(anyOf), ...recordsIn(oneOf)].map((branch) => atRoot(branch, schema, 8));
  const every = recordsIn(allOf).map((part) => atRoot(part, schema, 8));
  const parts = [root, ...every, ...branches];
  const properties: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [key, property] of parts.flatMap((part) => entriesOf(part.properties))) {
    if (/^[\w.-]{1,64}$/.test(key)) properties[key] = merged(properties[key], property);
    else notes.push(`There is also the property ${JSON.stringify(key)}: ${JSON.stringify(property)}.`);
  }
  for (const [keyword, value] of [...entriesOf({ anyOf, oneOf, allOf })]) {
    if (value !== undefined) notes.push(`The arguments must match ${keyword}: ${JSON.stringify(value)}.`);
  }
  const required = [...new Set([root, ...every].flatMap(requiredIn).concat(inAll(branches.map(requiredIn))))];
  const description = [root.description, ...notes].filter((text) => typeof text === "string").join("\n");
  return {
    ...root,
    type: "object",
    ...((root.properties !== undefined || Object.keys(properties).length > 0) && { properties }),
    ...(required.length > 0 && { required: required.filter((key) => Object.hasOwn(properties, key)) }),
    ...(description && { description }),
  };
}

/** The schema that a `$ref` at the root stands for, with what is beside the `$ref`. */
function atRoot(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  const { $ref, ...beside } = schema;
  if (typeof $ref !== "string") return schema;
  const target = depth > 0 && $ref !== "#" ? pointed($ref, root) : undefined;
  return target ? { ...atRoot(target, root, depth - 1), ...beside } : beside;
}

function pointed(ref: string, root: JsonSchema): JsonSchema | undefined {
  if (!ref.startsWith("#/")) return undefined;
  let value: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isRecord(value) ? value : undefined;
}

function merged(known: unknown, property: unknown): unknown {
  if (known === undefined || JSON.stringify(known) === JSON.stringify(property)) return property;
  if (known === true || (isRecord(known) && Object.keys(known).length === 0)) return property;
  const before = isRecord(known) && Object.keys(known).length === 1 && Array.isArray(known.anyOf);
  return { anyOf: [...(before ? (known.anyOf as unknown[]) : [known]), property] };
}

function requiredIn({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.filter((key) => typeof key === "string") : [];
}

function inAll(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return first.filter((key) => others.every((list) => list.includes(key)));
}

function recordsIn(value: unknown): JsonSchema[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

const formats = "date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" ");
const kept = new Set(["title", "description", "enum", "const", "default", "$ref"]);
const unsayable = ["patternProperties", "not", "if", "dependentSchemas", "prefixItems", "propertyNames"];

/**
 * The form of an answer in the subset that the API enforces; limits it does not enforce go into the descriptions.
 * Nothing when the subset has no words for the schema (maps with free keys, recursion): the instructions then say it.
 */
export function outputSchema(schema: JsonSchema): JsonSchema | undefined {
  const { $schema: _schema, $id: _id, ...root } = schema;
  try {
    return isRecursive(schema) ? undefined : adapted(root, mostDepth);
  } catch (thrown) {
    if (thrown === notSayable) return undefined;
    throw thrown;
  }
}

const mostDepth = 64;
const notSayable = new Error("This schema is outside the subset.");

function adapted(schema: unknown, depth: number): JsonSchema {
  if (!isRecord(schema) || depth === 0) throw notSayable;
  if (unsayable.some((keyword) => keyword in schema)) throw notSayable;
  const { type, $defs, definitions } = schema;
  const below = (member: unknown) => adapted(member, depth - 1);
  const defs = {
    ...($defs !== undefined && { $defs: mapped($defs, below) }),
    ...(definitions !== undefined && { definitions: mapped(definitions, below) }),
  };
  if (typeof schema.$ref === "string") return { $ref: schema.$ref, ...defs };
  if (Array.isArray(type)) {
    const { type: _type, $defs: _defs, definitions: _definitions, description, ...rest } = schema;
    const choices = type.map((one) => below(ofType(rest, one)));
    return { anyOf: choices, ...(description !== undefined && { description }), ...defs };
  }
  const result: Record<string, unknown> = { ...(type !== undefined && { type }), ...defs };
  const limits: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "anyOf" || keyword === "oneOf") result.anyOf = list(value).map(below);
    else if (keyword === "allOf") result.allOf = list(value).map(below);
    else if (keyword === "properties") result.properties = mapped(value, below);
    else if (keyword === "items") result.items = below(value);
    else if (keyword === "required" || kept.has(keyword)) result[keyword] = value;
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

/** An object that must have free keys would be forced to be empty. */
function closeObject(
  result: Record<string, unknown>,
  { additionalProperties, properties }: JsonSchema,
): void {
  const isOpen =
    additionalProperties === undefined ? properties === undefined : additionalProperties !== false;
  if (isOpen) throw notSayable;
  result.additionalProperties = false;
}

function ofType(schema: JsonSchema, type: unknown): JsonSchema {
  if (type === "null") return { type };
  if (!Array.isArray(schema.enum)) return { ...schema, type };
  return { ...schema, type, enum: (schema.enum as Json[]).filter((value) => value !== null) };
}

function mapped(value: unknown, change: (member: unknown) => JsonSchema): JsonSchema {
  return Object.fromEntries(entriesOf(value).map(([key, member]) => [key, change(member)]));
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw notSayable;
  return value;
}

/** A `$ref` to anything but a definition, or from one definition back to itself. */
function isRecursive(schema: JsonSchema): boolean {
  const visit = (value: unknown, above: readonly string[]): boolean => {
    if (Array.isArray(value)) return value.some((member) => visit(member, above));
    if (!isRecord(value)) return false;
    const { $ref } = value;
    if (typeof $ref === "string") {
      const target = above.includes($ref) || above.length > mostDepth ? undefined : pointed($ref, schema);
      if (!target || visit(target, [...above, $ref])) return true;
    }
    return entriesOf(value).some(
      ([key, member]) => !/^(\$defs|definitions)$/.test(key) && visit(member, above),
    );
  };
  return visit(schema, []);
}
