import { isRecord, type Json, type JsonSchema, toCanonicalJson } from "capstan";
import { createSchemaError, type Location } from "./rules.ts";
import { getProperties } from "./schema-types.ts";

/** Returns the schema that a reference names. */
export type Resolve = (reference: string, location: Location) => unknown;

const larger = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const smaller = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);
const annotations = new Set([
  ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"],
  ...["$schema", "$id", "$defs", "definitions", "$anchor", "contentEncoding", "contentMediaType"],
]);
const maxDepth = 32;

export type MergeContext = Location & { readonly resolve: Resolve; readonly depth?: number };

/**
 * Returns one schema whose values match both; false if no value can. Throws `model_rejected` for keywords that cannot
 * be combined.
 */
export function mergeSchemas(first: unknown, second: unknown, context: MergeContext): JsonSchema | false {
  if (first === false || second === false) return false;
  // A schema that allows everything leaves the other as it is, references included.
  if (isOpenSchema(first)) return isOpenSchema(second) ? {} : (second as JsonSchema);
  if (isOpenSchema(second)) return first as JsonSchema;
  const { depth = 0 } = context;
  if (depth > maxDepth)
    throw createSchemaError(context, "allOf", "combines schemas that refer to themselves");
  const [left, right] = [toOpenSchema(first, context), toOpenSchema(second, context)];
  if (left === false || right === false) return false;
  const merged: Record<string, unknown> = { ...left };
  const inner = { ...context, depth: depth + 1 };
  for (const [keyword, value] of Object.entries(right)) {
    if (keyword === "properties" || keyword === "additionalProperties" || annotations.has(keyword)) continue;
    const combined = keyword in left ? combine(keyword, [left[keyword], value], inner) : value;
    if (combined === undefined) return false;
    merged[keyword] = combined;
  }
  return { ...merged, ...mergeProperties(left, right, inner) };
}

function isOpenSchema(schema: unknown): boolean {
  if (schema === true || schema === undefined) return true;
  return isRecord(schema) && Object.keys(schema).every((keyword) => annotations.has(keyword));
}

/** Replaces a reference by its target, combined with the keywords next to it. */
function toOpenSchema(schema: unknown, context: MergeContext): JsonSchema | false {
  if (!isRecord(schema)) return isOpenSchema(schema) ? {} : false;
  if (typeof schema.$ref !== "string") return schema;
  const { $ref, ...rest } = schema;
  const target = context.resolve($ref, context);
  return mergeSchemas(target, rest, { ...context, depth: (context.depth ?? 0) + 1 });
}

type Pair = readonly [unknown, unknown];

/** Returns undefined if no value can match both. */
function combine(keyword: string, [left, right]: Pair, context: MergeContext): unknown {
  if (toCanonicalJson(left as Json) === toCanonicalJson(right as Json)) return left;
  if (larger.has(keyword)) return Math.max(Number(left), Number(right));
  if (smaller.has(keyword)) return Math.min(Number(left), Number(right));
  switch (keyword) {
    case "required":
      return [...new Set([...(left as string[]), ...(right as string[])])];
    case "enum":
      return intersect(left as unknown[], right as unknown[]);
    case "type":
      return intersectTypes([left].flat(), [right].flat());
    case "uniqueItems":
      return left === true || right === true;
    case "allOf":
      return [...(left as unknown[]), ...(right as unknown[])];
    case "anyOf":
    case "oneOf":
      return combineChoices(keyword, [left, right], context);
    case "items":
      return mergeSchemas(left, right, context);
    case "const":
      return undefined;
    default:
      throw createSchemaError(context, keyword, "appears in two combined schemas");
  }
}

function intersect(left: readonly unknown[], right: readonly unknown[]): unknown {
  const values = new Set(right.map((value) => toCanonicalJson(value as Json)));
  const both = left.filter((value) => values.has(toCanonicalJson(value as Json)));
  return both.length > 0 ? both : undefined;
}

function intersectTypes(left: readonly unknown[], right: readonly unknown[]): unknown {
  const accepts = (types: readonly unknown[], type: unknown) =>
    types.includes(type) || (type === "integer" && types.includes("number"));
  const both = [
    ...left.filter((type) => accepts(right, type)),
    ...right.filter((type) => accepts(left, type)),
  ];
  return both.length > 0 ? [...new Set(both)] : undefined;
}

/** Exactly one branch of each list has to match, so the pairs of a `oneOf` are checked like its branches. */
function combineChoices(keyword: string, pair: Pair, context: MergeContext): unknown {
  const [left, right] = pair as readonly [unknown[], unknown[]];
  if (left.length * right.length > 64) throw createSchemaError(context, keyword, "combines too many choices");
  const pairs = left.flatMap((one) => right.map((other) => mergeSchemas(one, other, context)));
  const possible = pairs.filter((pair) => pair !== false);
  return possible.length > 0 ? possible : undefined;
}

/** A property that one schema does not list has to match its `additionalProperties`. */
function mergeProperties(left: JsonSchema, right: JsonSchema, context: MergeContext): JsonSchema {
  const [ours, theirs] = [getProperties(left), getProperties(right)];
  const properties: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const one = Object.hasOwn(ours, name) ? ours[name] : left.additionalProperties;
    const other = Object.hasOwn(theirs, name) ? theirs[name] : right.additionalProperties;
    properties[name] = mergeSchemas(one, other, context);
  }
  const additional = mergeSchemas(left.additionalProperties, right.additionalProperties, context);
  const isOpen = additional !== false && Object.keys(additional).length === 0;
  return {
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(!isOpen && { additionalProperties: additional }),
  };
}
