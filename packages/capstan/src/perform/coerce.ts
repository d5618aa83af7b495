import { canonical, isRecord, type Json } from "../json.ts";
import { namedSchemas, resolveReference } from "../schema/references.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { type JsonObject, limitProblem } from "./parse-arguments.ts";

export type Coerced = { readonly value: Json; readonly repairs: string[] };

type Coercion = {
  readonly root: JsonSchema;
  readonly named: ReadonlyMap<string, unknown>;
  readonly repairs: string[];
};
/** The schemas that hold for a value, and where the value is. */
type Place = { readonly rules: readonly JsonSchema[]; readonly path: readonly string[] };

/**
 * Changes a value where it does not fit and the schema leaves no doubt about what was meant. It looks at types,
 * choices, properties, items and references, not at alternatives (`anyOf`). Whether the outcome is valid is for the
 * schema to say. Each repair tells where and what.
 */
export function coerce(value: Json, schema: JsonSchema): Coerced {
  const coercion: Coercion = { root: schema, named: namedSchemas(schema), repairs: [] };
  const coerced = coerceAt(coercion, value, { rules: rulesOf(coercion, schema), path: [] });
  return { value: coerced, repairs: coercion.repairs };
}

/** A schema and, when it refers to another, that one as well. */
function rulesOf({ root, named }: Coercion, schema: unknown): JsonSchema[] {
  const rules: JsonSchema[] = [];
  let next = schema;
  while (isRecord(next) && !rules.includes(next)) {
    rules.push(next);
    next = typeof next.$ref === "string" ? resolveReference(next.$ref, root, named) : undefined;
  }
  return rules;
}

function coerceAt(coercion: Coercion, value: Json, place: Place): Json {
  const read = readAs(coercion, value, place);
  if (read !== undefined)
    coercion.repairs.push(`${shownPath(place.path)}: ${shown(value)} was read as ${shown(read)}`);
  const current = read ?? value;
  if (Array.isArray(current)) return coerceItems(coercion, current, place);
  return isObject(current) ? coerceProperties(coercion, current, place) : current;
}

/** What a value that does not fit certainly stands for. */
function readAs(coercion: Coercion, value: Json, { rules, path }: Place): Json | undefined {
  const types = typesOf(rules);
  if (types === undefined || types.some((type) => isOfType(value, type))) return inItsCase(value, rules);
  const read = typeof value === "string" ? readText(value, types) : undefined;
  if (read !== undefined || !types.includes("array") || !isSingle(value)) return read;
  const items = rules.flatMap((rule) => rulesOf(coercion, rule.items));
  if (typesOf(items)?.includes("array")) return undefined; // one value as a list of lists is anybody's guess
  const item = coerceAt({ ...coercion, repairs: [] }, value, { rules: items, path });
  return fits(item, items) ? [item] : undefined;
}

function readText(text: string, types: readonly string[]): Json | undefined {
  const isNumeral = /^-?\d+(?:\.\d+)?$/.test(text) && String(Number(text)) === text;
  if (isNumeral && types.some((type) => isOfType(Number(text), type))) return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (!/^\s*[[{]/.test(text)) return undefined;
  const parsed = parsedJson(text);
  if (parsed === undefined || limitProblem(parsed) !== undefined) return undefined;
  return types.some((type) => isOfType(parsed, type)) ? parsed : undefined;
}

function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // it stays a text, which the schema refuses
  }
}

/** Whether a value may be meant as the only item of a list: not an absent one, and no text that could be several. */
function isSingle(value: Json): boolean {
  return value !== null && !(typeof value === "string" && /^\s*[[{]|[,;\n]/.test(value));
}

/** The one choice that differs in nothing but its case. */
function inItsCase(value: Json, rules: readonly JsonSchema[]): Json | undefined {
  if (typeof value !== "string") return undefined;
  for (const choices of rules.map(choicesOf)) {
    if (choices === undefined || choices.includes(value)) continue;
    const wanted = value.toLowerCase();
    const alike = choices
      .filter((choice) => typeof choice === "string")
      .filter((choice) => choice.toLowerCase() === wanted);
    if (alike.length === 1) return alike[0];
  }
  return undefined;
}

function coerceItems(coercion: Coercion, list: readonly Json[], { rules, path }: Place): Json {
  const items = rules.flatMap((rule) => rulesOf(coercion, rule.items));
  if (items.length === 0) return list;
  return list.map((item, index) =>
    coerceAt(coercion, item, { rules: items, path: [...path, String(index)] }),
  );
}

function coerceProperties(coercion: Coercion, object: JsonObject, { rules, path }: Place): Json {
  const required = rules.flatMap((rule) => (Array.isArray(rule.required) ? rule.required : []));
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(object)) {
    const own = rules.flatMap((rule) => rulesOf(coercion, propertyOf(rule, key)));
    const at: Place = { rules: own, path: [...path, key] };
    if (value === null && own.length > 0 && !required.includes(key) && !fits(null, own))
      coercion.repairs.push(`${shownPath(at.path)}: null was left out`);
    else entries.push([key, coerceAt(coercion, value, at)]);
  }
  // fromEntries defines own keys, whatever they are called.
  return Object.fromEntries(entries);
}

function isObject(value: Json): value is JsonObject {
  return isRecord(value);
}

function propertyOf({ properties }: JsonSchema, key: string): unknown {
  return isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Only by type and choice: enough to see that a value is of the wrong kind. */
function fits(value: Json, rules: readonly JsonSchema[]): boolean {
  const types = typesOf(rules);
  if (types && !types.some((type) => isOfType(value, type))) return false;
  const isChoice = (choice: unknown) => canonical(choice as Json) === canonical(value);
  return rules.map(choicesOf).every((choices) => choices === undefined || choices.some(isChoice));
}

/** The types that all schemas allow; undefined when none of them names any. */
function typesOf(rules: readonly JsonSchema[]): string[] | undefined {
  const lists = rules.filter(({ type }) => type !== undefined).map(({ type }) => [type].flat().map(String));
  return lists[0]?.filter((type) => lists.every((list) => list.includes(type)));
}

function choicesOf(rule: JsonSchema): readonly unknown[] | undefined {
  if (rule.const !== undefined) return [rule.const];
  return Array.isArray(rule.enum) ? rule.enum : undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  return type === "null" ? value === null : typeof value === type;
}

function shownPath(path: readonly string[]): string {
  return path.length > 0 ? path.join(".") : "the arguments";
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}
