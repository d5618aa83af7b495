import { isRecord, type Json, toCanonicalJson } from "../../base/json.ts";
import { collectNamedSchemas, resolveReference } from "../../schema/references.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { findLimitProblem, type JsonObject } from "./parse-arguments.ts";

export type CoercedValue = { readonly value: Json; readonly repairs: string[] };

type Coercion = {
  readonly root: JsonSchema;
  readonly named: ReadonlyMap<string, unknown>;
  readonly repairs: string[];
};
/** The schemas that apply to a value, and the path of the value. */
type SchemaLocation = { readonly rules: readonly JsonSchema[]; readonly path: readonly string[] };

/**
 * Corrects a value where it does not match the schema and the intent is unambiguous. Considers types, choices,
 * properties, items and references, but not alternatives (`anyOf`). Does not validate the result. Each repair describes
 * where and what was changed.
 */
export function coerce(value: Json, schema: JsonSchema): CoercedValue {
  const coercion: Coercion = { root: schema, named: collectNamedSchemas(schema), repairs: [] };
  const coerced = coerceAt(coercion, value, { rules: resolveRules(coercion, schema), path: [] });
  return { value: coerced, repairs: coercion.repairs };
}

/** Returns a schema together with the schemas it references. */
function resolveRules({ root, named }: Coercion, schema: unknown): JsonSchema[] {
  const rules: JsonSchema[] = [];
  let next = schema;
  while (isRecord(next) && !rules.includes(next)) {
    rules.push(next);
    next = typeof next.$ref === "string" ? resolveReference(next.$ref, root, named) : undefined;
  }
  return rules;
}

function coerceAt(coercion: Coercion, value: Json, location: SchemaLocation): Json {
  const read = reinterpret(coercion, value, location);
  if (read !== undefined)
    coercion.repairs.push(
      `${formatPath(location.path)}: ${formatJson(value)} was read as ${formatJson(read)}`,
    );
  const current = read ?? value;
  if (Array.isArray(current)) return coerceItems(coercion, current, location);
  return isObject(current) ? coerceProperties(coercion, current, location) : current;
}

/** Returns the value that was meant by a mismatched one, if that is unambiguous. */
function reinterpret(coercion: Coercion, value: Json, { rules, path }: SchemaLocation): Json | undefined {
  const types = intersectTypes(rules);
  if (types === undefined || types.some((type) => isOfType(value, type)))
    return matchChoiceCase(value, rules);
  const read = typeof value === "string" ? coerceText(value, types) : undefined;
  if (read !== undefined || !types.includes("array") || !isSingle(value)) return read;
  const items = rules.flatMap((rule) => resolveRules(coercion, rule.items));
  if (intersectTypes(items)?.includes("array")) return undefined; // ambiguous: one value for a list of lists
  const item = coerceAt({ ...coercion, repairs: [] }, value, { rules: items, path });
  return matchesRules(item, items) ? [item] : undefined;
}

function coerceText(text: string, types: readonly string[]): Json | undefined {
  const isNumeral = /^-?\d+(?:\.\d+)?$/.test(text) && String(Number(text)) === text;
  if (isNumeral && types.some((type) => isOfType(Number(text), type))) return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (!/^\s*[[{]/.test(text)) return undefined;
  const parsed = parseJson(text);
  if (parsed === undefined || findLimitProblem(parsed) !== undefined) return undefined;
  return types.some((type) => isOfType(parsed, type)) ? parsed : undefined;
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // stays a string, which the schema rejects
  }
}

/** Whether a value can be the only item of a list: not null, and not a string that may hold several items. */
function isSingle(value: Json): boolean {
  return value !== null && !(typeof value === "string" && /^\s*[[{]|[,;\n]/.test(value));
}

/** Finds the only choice that differs just in case. */
function matchChoiceCase(value: Json, rules: readonly JsonSchema[]): Json | undefined {
  if (typeof value !== "string") return undefined;
  for (const choices of rules.map(getChoices)) {
    if (choices === undefined || choices.includes(value)) continue;
    const lowercased = value.toLowerCase();
    const matches = choices
      .filter((choice) => typeof choice === "string")
      .filter((choice) => choice.toLowerCase() === lowercased);
    if (matches.length === 1) return matches[0];
  }
  return undefined;
}

function coerceItems(coercion: Coercion, list: readonly Json[], { rules, path }: SchemaLocation): Json {
  const items = rules.flatMap((rule) => resolveRules(coercion, rule.items));
  if (items.length === 0) return list;
  return list.map((item, index) =>
    coerceAt(coercion, item, { rules: items, path: [...path, String(index)] }),
  );
}

function coerceProperties(coercion: Coercion, object: JsonObject, { rules, path }: SchemaLocation): Json {
  const required = rules.flatMap((rule) => (Array.isArray(rule.required) ? rule.required : []));
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(object)) {
    const memberRules = rules.flatMap((rule) => resolveRules(coercion, getPropertySchema(rule, key)));
    const memberLocation: SchemaLocation = { rules: memberRules, path: [...path, key] };
    if (
      value === null &&
      memberRules.length > 0 &&
      !required.includes(key) &&
      !matchesRules(null, memberRules)
    )
      coercion.repairs.push(`${formatPath(memberLocation.path)}: null was removed`);
    else entries.push([key, coerceAt(coercion, value, memberLocation)]);
  }
  // fromEntries defines own properties, even for "__proto__".
  return Object.fromEntries(entries);
}

function isObject(value: Json): value is JsonObject {
  return isRecord(value);
}

function getPropertySchema({ properties }: JsonSchema, key: string): unknown {
  return isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Compares type and choices only: enough to detect a value of the wrong kind. */
function matchesRules(value: Json, rules: readonly JsonSchema[]): boolean {
  const types = intersectTypes(rules);
  if (types && !types.some((type) => isOfType(value, type))) return false;
  const isChoice = (choice: unknown) => toCanonicalJson(choice as Json) === toCanonicalJson(value);
  return rules.map(getChoices).every((choices) => choices === undefined || choices.some(isChoice));
}

/** Returns the types that all schemas allow; undefined when none of them restricts the type. */
function intersectTypes(rules: readonly JsonSchema[]): string[] | undefined {
  const lists = rules.filter(({ type }) => type !== undefined).map(({ type }) => [type].flat().map(String));
  return lists[0]?.filter((type) => lists.every((list) => list.includes(type)));
}

function getChoices(rule: JsonSchema): readonly unknown[] | undefined {
  if (rule.const !== undefined) return [rule.const];
  return Array.isArray(rule.enum) ? rule.enum : undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  return type === "null" ? value === null : typeof value === type;
}

function formatPath(path: readonly string[]): string {
  return path.length > 0 ? path.join(".") : "the arguments";
}

function formatJson(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}
