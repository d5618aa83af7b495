// Describes how a form asks for a value of a JSON Schema. The schema comes from an MCP server, so it may be recursive,
// huge or invalid: whatever has no simple field is entered as JSON, and the server's validation decides.
import { isRecord, type Json } from "capstan";

type SchemaRecord = { readonly [key: string]: unknown };

/** A member of a group. */
export type SchemaMember = { readonly name: string; readonly schema: unknown; readonly isRequired: boolean };

/** The kind of field for a schema. */
export type SchemaField = { readonly title?: string; readonly description?: string } & (
  | { readonly kind: "text" }
  | { readonly kind: "number"; readonly isInteger: boolean }
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly choices: readonly Json[] }
  | { readonly kind: "list"; readonly items: unknown }
  | { readonly kind: "group"; readonly members: readonly SchemaMember[]; readonly omitted: number }
  | { readonly kind: "json" }
);

/** More fields than this are left to the JSON view. */
export const maxMembers = 60;
const maxChoices = 500;
const maxReferences = 20;
/** Deeper values are entered as JSON. */
export const maxDepth = 8;

/** Returns the field for a schema; `root` resolves its references. */
export function getSchemaField(schema: unknown, root: unknown): SchemaField {
  const resolved = resolve(schema, root);
  if (!resolved) return { kind: "json" };
  const texts = {
    ...(typeof resolved.title === "string" && resolved.title !== "" && { title: resolved.title }),
    ...(typeof resolved.description === "string" && { description: resolved.description }),
  };
  return { ...texts, ...getKind(resolved) };
}

function getKind(schema: SchemaRecord): SchemaField {
  if ("const" in schema) return { kind: "choice", choices: [schema.const as Json] };
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum.slice(0, maxChoices) as Json[];
    return choices.length > 0 ? { kind: "choice", choices } : { kind: "json" };
  }
  switch (getType(schema)) {
    case "string":
      return { kind: "text" };
    case "number":
      return { kind: "number", isInteger: false };
    case "integer":
      return { kind: "number", isInteger: true };
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return isRecord(schema.items) ? { kind: "list", items: schema.items } : { kind: "json" };
    case "object":
      return getGroup(schema);
    default:
      return { kind: "json" };
  }
}

function getGroup({ properties, required }: SchemaRecord): SchemaField {
  if (!isRecord(properties)) return { kind: "json" };
  const requiredNames = new Set(Array.isArray(required) ? required : []);
  const all = Object.entries(properties).map(([name, schema]) => ({
    ...{ name, schema, isRequired: requiredNames.has(name) },
  }));
  // Required fields first: a huge schema must still be usable.
  const sorted =
    all.length > maxMembers
      ? all.toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired))
      : all;
  return {
    kind: "group",
    members: sorted.slice(0, maxMembers),
    omitted: Math.max(0, all.length - maxMembers),
  };
}

/** The type, or the only one besides `null`. */
function getType({ type, properties }: SchemaRecord): unknown {
  if (type === undefined && isRecord(properties)) return "object";
  if (!Array.isArray(type)) return type;
  const others = type.filter((name) => name !== "null");
  return others.length === 1 ? others[0] : undefined;
}

/** Follows references within the document, and takes the only alternative besides `null`. */
function resolve(schema: unknown, root: unknown): SchemaRecord | undefined {
  let current = schema;
  for (let count = 0; count < maxReferences; count++) {
    if (!isRecord(current)) return undefined;
    if (typeof current.$ref === "string") {
      current = findReference(current.$ref, root);
      continue;
    }
    const alternatives = current.anyOf ?? current.oneOf;
    if (!Array.isArray(alternatives)) return "allOf" in current ? undefined : current;
    const others = alternatives.filter((one) => !isRecord(one) || one.type !== "null");
    if (others.length !== 1) return undefined;
    current = others[0];
  }
  return undefined;
}

function findReference(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as SchemaRecord)[name];
  }
  return found;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the value that a form starts with: required groups and lists exist, everything else is empty. */
export function getInitialValue(schema: unknown, root: unknown, depth = 0): Json | undefined {
  const resolved = resolve(schema, root);
  const { default: given } = resolved ?? {};
  if (typeof given === "string" || typeof given === "number" || typeof given === "boolean") return given;
  const field = getSchemaField(schema, root);
  if (field.kind === "list") return [];
  if (field.kind === "boolean") return false;
  if (field.kind === "choice") return field.choices.length === 1 ? field.choices[0] : undefined;
  if (field.kind !== "group") return undefined;
  if (depth >= maxDepth) return {};
  const members = field.members.flatMap(({ name, schema: member, isRequired }) => {
    const value = isRequired ? getInitialValue(member, root, depth + 1) : getDefault(member, root);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

function getDefault(schema: unknown, root: unknown): Json | undefined {
  const { default: given } = resolve(schema, root) ?? {};
  return typeof given === "string" || typeof given === "number" || typeof given === "boolean"
    ? given
    : undefined;
}

/** Formats a choice: texts as they are, other values as JSON. */
export function formatChoice(choice: Json): string {
  return typeof choice === "string" ? choice : JSON.stringify(choice);
}
