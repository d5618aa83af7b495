import { isRecord, type Json, type JsonSchema, toCanonicalJson } from "capstan";
import { getProperties, listTypes } from "./schema-types.ts";

/** Whether it is certain that no value matches both schemas: their types, constants or properties exclude each other. */
export function areDisjoint(left: unknown, right: unknown): boolean {
  if (left === false || right === false) return true;
  if (!isRecord(left) || !isRecord(right)) return false;
  const [ours, theirs] = [listConstants(left), listConstants(right)];
  if (ours && theirs) return !ours.some((value) => theirs.includes(value));
  const [types, others] = [listTypes(left), listTypes(right)];
  if (!types.some((type) => others.some((other) => overlap(type, other)))) return true;
  if (types.join() !== "object" || others.join() !== "object") return false;
  return excludes(left, right) || excludes(right, left) || haveDisjointProperty(left, right);
}

const overlap = (left: string, right: string): boolean =>
  left === right || [left, right].toSorted().join() === "integer,number";

function listConstants({ const: constant, enum: values }: JsonSchema): readonly string[] | undefined {
  if (constant !== undefined) return [toCanonicalJson(constant as Json)];
  return Array.isArray(values) ? values.map((value) => toCanonicalJson(value as Json)) : undefined;
}

const listRequired = ({ required }: JsonSchema): readonly string[] =>
  Array.isArray(required) ? required.map(String) : [];

/** One requires a property that the other forbids. */
function excludes(left: JsonSchema, right: JsonSchema): boolean {
  if (right.additionalProperties !== false || isRecord(right.patternProperties)) return false;
  return listRequired(left).some((name) => !Object.hasOwn(getProperties(right), name));
}

/** Both require a property whose values differ, as a discriminator does. */
function haveDisjointProperty(left: JsonSchema, right: JsonSchema): boolean {
  const [ours, theirs] = [getProperties(left), getProperties(right)];
  const both = listRequired(left).filter((name) => listRequired(right).includes(name));
  return both.some((name) => areDisjoint(ours[name], theirs[name]));
}
