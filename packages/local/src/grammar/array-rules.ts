import { isRecord, type JsonSchema } from "capstan";
import { createSchemaError, repeat, toLiteral } from "./rules.ts";
import type { SchemaContext } from "./schema-rules.ts";
import { matchesConstant } from "./schema-types.ts";

const separator = '"," " "?';
/** A larger `maxItems` is lowered: llama.cpp expands every repetition. */
const maxItemCount = 256;

/** Returns an expression for the arrays of a schema. */
export function buildArray(schema: JsonSchema, context: SchemaContext): string {
  const min = Number(schema.minItems ?? 0);
  const limit = Number(schema.maxItems ?? Infinity);
  if (min > limit) throw createSchemaError(context, "minItems", "is larger than maxItems");
  const max = limit === Infinity ? limit : Math.max(min, Math.min(limit, maxItemCount));
  if (schema.uniqueItems === true) return buildUnique(schema, { min, max }, context);
  if (Array.isArray(schema.prefixItems)) return buildTuple(schema, { min, max }, context);
  if (max === 0 || (schema.items === false && min === 0)) return '"[]"';
  const item = context.build(schema.items, "/items");
  const following = context.rules.add(`${separator} ${item}`);
  const list = `${item} ${repeat(context.rules, following, { min: Math.max(0, min - 1), max: max - 1 })}`;
  return min === 0 ? `"[" ( ${list} )? "]"` : `"[" ${list} "]"`;
}

type Counts = { readonly min: number; readonly max: number };

/** The listed items in order; then items of `items`, if the schema has any. */
function buildTuple(schema: JsonSchema, { min, max }: Counts, context: SchemaContext): string {
  const prefix = schema.prefixItems as readonly unknown[];
  const listed = prefix.slice(0, max).map((item, index) => context.build(item, `/prefixItems/${index}`));
  if (min > prefix.length && schema.items === false)
    throw createSchemaError(context, "minItems", "is larger than the number of items");
  const hasMore = max > prefix.length && (min > prefix.length || (schema.items ?? false) !== false);
  if (!hasMore) return `"[" ${listed.join(` ${separator} `)} "]"`;
  const following = context.rules.add(`${separator} ${context.build(schema.items, "/items")}`);
  const counts = { min: Math.max(0, min - prefix.length), max: max - prefix.length };
  const more = repeat(context.rules, following, counts);
  return `"[" ${listed.join(` ${separator} `)} ${more} "]"`;
}

/** Distinct items: of a list of constants in its order, else one at most. */
function buildUnique(schema: JsonSchema, { min, max }: Counts, context: SchemaContext): string {
  const { items } = schema;
  if (isRecord(items) && Array.isArray(items.enum) && schema.prefixItems === undefined) {
    const allowed = items.enum.filter((value) => matchesConstant(items, value));
    const values = [...new Set(allowed.map((value) => JSON.stringify(value)))];
    if (values.length < min) throw createSchemaError(context, "uniqueItems", "has too few distinct items");
    return `"[" ${buildSubset(values, { min, max }, context)} "]"`;
  }
  if (min > 1) throw createSchemaError(context, "uniqueItems", "needs several items that differ");
  return buildArray({ ...schema, uniqueItems: false, maxItems: Math.min(1, max) }, context);
}

/** Each value may be taken or left, as long as enough are taken. */
function buildSubset(values: readonly string[], { min, max }: Counts, { rules }: SchemaContext): string {
  const build = (index: number, taken: number): string => {
    if (index === values.length || taken === max) return taken >= min ? '""' : "";
    const rest = build(index + 1, taken + 1);
    const take = rest && `${taken > 0 ? `${separator} ` : ""}${toLiteral(values[index] ?? "")} ${rest}`;
    const choices = [take, build(index + 1, taken)].filter((choice) => choice !== "");
    return choices.length > 0 ? rules.add(choices.join(" | ")) : "";
  };
  return build(0, 0);
}
