// Most schemas have a few simple keywords, and most values are valid. Such a value is accepted here, at a twentieth of
// the validator's cost and without loading it. The validator explains what is wrong with all others.
import { isRecord } from "../base/json.ts";
import type { CompiledSchema } from "./compile-schema.ts";

/** True if a value is valid. False if it is not, or if only the validator can tell. */
export type QuickCheck = (value: unknown) => boolean;

/** Returns undefined for a schema with any other keyword than those below. */
export function compileQuickCheck({ root, keyPatterns }: CompiledSchema): QuickCheck | undefined {
  return keyPatterns.length === 0 ? compileChecks(root) : undefined;
}

function compileChecks(schema: unknown): QuickCheck | undefined {
  if (typeof schema === "boolean") return () => schema;
  if (!isRecord(schema)) return undefined;
  const checks: QuickCheck[] = [];
  for (const keyword of Object.keys(schema)) {
    const check = compilers.get(keyword)?.(schema[keyword], schema);
    if (!check) return undefined;
    checks.push(check);
  }
  return (value) => {
    for (const check of checks) if (!check(value)) return false;
    return true;
  };
}

type Schema = Readonly<Record<string, unknown>>;
type CompileKeyword = (operand: unknown, schema: Schema) => QuickCheck | undefined;

const compilers: ReadonlyMap<string, CompileKeyword> = new Map<string, CompileKeyword>([
  ["type", compileType],
  ["enum", (values) => (Array.isArray(values) ? (value) => values.includes(value) : undefined)],
  ["const", (constant) => (value) => value === constant],
  ["minimum", (limit) => compileLimit(limit, toNumber, (value, least) => value >= least)],
  ["maximum", (limit) => compileLimit(limit, toNumber, (value, most) => value <= most)],
  // A character takes one or two units of `length`.
  ["minLength", (limit) => compileLimit(limit, toTextLength, (length, least) => length >= 2 * least)],
  ["maxLength", (limit) => compileLimit(limit, toTextLength, (length, most) => length <= most)],
  ["minItems", (limit) => compileLimit(limit, toListLength, (length, least) => length >= least)],
  ["maxItems", (limit) => compileLimit(limit, toListLength, (length, most) => length <= most)],
  ["items", compileItems],
  ["properties", compileProperties],
  ["required", compileRequired],
  ["additionalProperties", compileAdditionalProperties],
]);

const typeChecks: Readonly<Record<string, QuickCheck>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: isRecord,
  null: (value) => value === null,
};

function compileType(type: unknown): QuickCheck | undefined {
  return typeof type === "string" ? typeChecks[type] : undefined;
}

/** Values that have no such measure are not limited. */
function compileLimit(
  limit: unknown,
  measure: (value: unknown) => number | undefined,
  isWithin: (measured: number, limit: number) => boolean,
): QuickCheck | undefined {
  if (typeof limit !== "number") return undefined;
  return (value) => {
    const measured = measure(value);
    return measured === undefined || isWithin(measured, limit);
  };
}

const toNumber = (value: unknown) => (typeof value === "number" ? value : undefined);
const toTextLength = (value: unknown) => (typeof value === "string" ? value.length : undefined);
const toListLength = (value: unknown) => (Array.isArray(value) ? value.length : undefined);

function compileItems(items: unknown): QuickCheck | undefined {
  const check = compileChecks(items);
  return check && ((value) => !Array.isArray(value) || value.every(check));
}

function compileProperties(properties: unknown): QuickCheck | undefined {
  if (!isRecord(properties)) return undefined;
  const checks = new Map<string, QuickCheck>();
  for (const [key, schema] of Object.entries(properties)) {
    const check = compileChecks(schema);
    if (!check) return undefined;
    checks.set(key, check);
  }
  return (value) => {
    if (!isRecord(value)) return true;
    for (const [key, check] of checks) if (Object.hasOwn(value, key) && !check(value[key])) return false;
    return true;
  };
}

function compileRequired(required: unknown): QuickCheck | undefined {
  if (!Array.isArray(required)) return undefined;
  return (value) => !isRecord(value) || required.every((key) => Object.hasOwn(value, key));
}

/** Other values than `false` are left to the validator, which rejects keys that are not well-formed text. */
function compileAdditionalProperties(schema: unknown, { properties = {} }: Schema): QuickCheck | undefined {
  if (schema !== false || !isRecord(properties)) return undefined;
  return (value) => !isRecord(value) || Object.keys(value).every((key) => Object.hasOwn(properties, key));
}
