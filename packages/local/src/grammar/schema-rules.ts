// Translates a JSON Schema to grammar rules for compact JSON. Every text of the grammar is valid by the schema. Where a
// grammar cannot describe all valid values it describes fewer: properties come in the order of the schema and without
// additional ones, patterns match from start to end, formats have a plain form, numbers have up to 15 digits.
import { isRecord, type JsonSchema } from "capstan";
import { buildArray } from "./array-rules.ts";
import { areDisjoint } from "./disjoint-schemas.ts";
import { mergeSchemas, type Resolve } from "./merge-schemas.ts";
import { buildNumber } from "./number-rules.ts";
import { buildObject } from "./object-rules.ts";
import { createSchemaError, type Location, type Rules, toChoice, toLiteral } from "./rules.ts";
import { listTypes, matchesConstant, type TypeName } from "./schema-types.ts";
import { buildString } from "./string-rules.ts";

/** The schema that is being translated: whose it is, where it is in it, and how to translate those inside. */
export type SchemaContext = Location & {
  readonly rules: Rules;
  readonly resolve: Resolve;
  /** Returns the rule of a schema below this one. Throws `model_rejected` if no value can be described. */
  build(schema: unknown, subpath?: string): string;
};

/** Keywords that change which values are valid and that no grammar here describes. */
const inexpressible = ["contains", "propertyNames", "dependentSchemas", "dependentRequired", "dependencies"];
const anyDepth = 3;

/** Adds rules for a schema and returns the name of the first. Throws `model_rejected` with the keyword and its place. */
export function addSchemaRules(rules: Rules, schema: JsonSchema, owner: string): string {
  const targets = new Map<string, string>();
  const resolve: Resolve = (reference, location) => findTarget(schema, reference, location);
  const buildAt = (inner: unknown, location: Location): string => {
    if (inner === true || inner === undefined) return addAnyValue(rules, anyDepth);
    if (!isRecord(inner)) throw createSchemaError(location, "false", "allows no value");
    if (typeof inner.$ref === "string" && Object.keys(inner).every(isSilentNextToReference))
      return buildReference(inner.$ref, location);
    const build: SchemaContext["build"] = (schemaInside, subpath = "") =>
      buildAt(schemaInside, { owner, path: location.path + subpath });
    return rules.add(buildSchema(inner, { ...location, rules, resolve, build }));
  };
  // A schema may refer to itself, so that its rule gets a name before it has a body.
  const buildReference = (reference: string, location: Location): string => {
    const known = targets.get(reference);
    if (known !== undefined) return known;
    const name = rules.reserve();
    targets.set(reference, name);
    rules.set(name, buildAt(resolve(reference, location), { owner, path: reference }));
    return name;
  };
  return buildAt(schema, { owner, path: "" });
}

const isSilentNextToReference = (keyword: string): boolean =>
  ["$ref", "description", "title", "default", "examples", "$comment"].includes(keyword);

function findTarget(root: JsonSchema, reference: string, location: Location): unknown {
  if (!reference.startsWith("#")) throw createSchemaError(location, "$ref", "refers to another document");
  const keys = decodeURIComponent(reference.slice(1)).split("/").slice(1);
  let target: unknown = root;
  for (const key of keys.map((text) => text.replace(/~1/g, "/").replace(/~0/g, "~")))
    target =
      typeof target === "object" && target !== null ? (target as Record<string, unknown>)[key] : undefined;
  if (target === undefined)
    throw createSchemaError(location, "$ref", `refers to "${reference}", which does not exist`);
  return target;
}

function buildSchema(schema: JsonSchema, context: SchemaContext): string {
  const { $ref, allOf, if: condition, then, else: otherwise, ...rest } = schema;
  const conditions = keep({ if: condition, then, else: otherwise });
  if ($ref !== undefined) return buildAll([rest, { $ref }, ...keep({ allOf }), ...conditions], context);
  if (Array.isArray(allOf)) return buildAll([rest, ...allOf, ...conditions], context);
  // Only the case in which the condition holds: its opposite has no grammar.
  if (condition !== undefined && (then !== undefined || otherwise !== undefined))
    return buildAll([rest, condition, then ?? true], context);
  if (Array.isArray(rest.anyOf)) return buildChoice("anyOf", rest, context);
  if (Array.isArray(rest.oneOf)) return buildChoice("oneOf", rest, context);
  if (rest.not !== undefined)
    throw createSchemaError(context, "not", "describes values by what they are not");
  const problem = inexpressible.find((keyword) => rest[keyword] !== undefined);
  if (problem) throw createSchemaError(context, problem, "depends on more than one value");
  return buildPlain(rest, context);
}

function buildAll(schemas: readonly unknown[], context: SchemaContext): string {
  let merged: JsonSchema | false = {};
  for (const schema of schemas) merged = mergeSchemas(merged, schema, context);
  return context.build(merged);
}

/** Returns one schema with the keywords that are set, or none. */
function keep(keywords: { readonly [keyword: string]: unknown }): readonly JsonSchema[] {
  const set = Object.entries(keywords).filter(([, value]) => value !== undefined);
  return set.length > 0 ? [Object.fromEntries(set)] : [];
}

function buildChoice(keyword: "anyOf" | "oneOf", schema: JsonSchema, context: SchemaContext): string {
  const { [keyword]: branches, ...rest } = schema;
  const merged = (branches as readonly unknown[]).map((branch) => mergeSchemas(rest, branch, context));
  if (keyword === "oneOf") assertDisjoint(merged, context);
  const possible = merged.flatMap((branch, index) =>
    branch === false ? [] : [context.build(branch, `/${keyword}/${index}`)],
  );
  if (possible.length === 0) throw createSchemaError(context, keyword, "allows no value");
  return toChoice([...new Set(possible)]);
}

function assertDisjoint(branches: readonly unknown[], location: Location): void {
  for (const [index, branch] of branches.entries())
    for (const other of branches.slice(index + 1))
      if (!areDisjoint(branch, other))
        throw createSchemaError(location, "oneOf", "has branches that may match the same value; use anyOf");
}

/** A schema without combinations: constants, or one of its types. */
function buildPlain(schema: JsonSchema, context: SchemaContext): string {
  const constants = schema.const !== undefined ? [schema.const] : schema.enum;
  if (Array.isArray(constants)) {
    const values = constants.filter((value) => matchesConstant(schema, value));
    if (values.length === 0) throw createSchemaError(context, "enum", "allows no value");
    return toChoice([...new Set(values.map((value) => toLiteral(JSON.stringify(value))))]);
  }
  if (Object.keys(schema).length === 0) return addAnyValue(context.rules, anyDepth);
  return toChoice(listTypes(schema).map((type) => buildType(type, schema, context)));
}

function buildType(type: TypeName, schema: JsonSchema, context: SchemaContext): string {
  switch (type) {
    case "object":
      return buildObject(schema, context);
    case "array":
      return buildArray(schema, context);
    case "string":
      return buildString(context.rules, schema, context);
    case "number":
    case "integer":
      return buildNumber(schema, type, context);
    case "boolean":
      return '( "true" | "false" )';
    case "null":
      return '"null"';
  }
}

/** Any JSON, nested up to a depth, so that an answer ends. */
export function addAnyValue(rules: Rules, depth: number): string {
  const anywhere = { owner: "any value", path: "" };
  const scalars = [
    buildString(rules, {}, anywhere),
    buildNumber({}, "number", anywhere),
    '"true"',
    '"false"',
    '"null"',
  ];
  const scalar = rules.add(toChoice(scalars));
  if (depth === 0) return scalar;
  const inner = addAnyValue(rules, depth - 1);
  const key = rules.add(`[^"\\\\_\\x00-\\x1F\\x7F] [^"\\\\\\x00-\\x1F\\x7F]{0,30}`);
  const member = rules.add(`"\\"" ${key} "\\":" " "? ${inner}`);
  const object = `"{" ( ${member} ( "," " "? ${member} )* )? "}"`;
  return rules.add(toChoice([scalar, object, `"[" ( ${inner} ( "," " "? ${inner} )* )? "]"`]));
}
