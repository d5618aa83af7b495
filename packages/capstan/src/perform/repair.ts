import { isRecord, type Json } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { coerce } from "./coerce.ts";
import { type LenientJson, parseLenient } from "./lenient-json.ts";
import { findLimitProblem, type JsonObject, maxArgumentCharacters } from "./parse-arguments.ts";

/** The arguments of a call as a model gave them: `raw` is the text, when that is no JSON object. */
export type RawArguments = { readonly raw?: string; readonly input: JsonObject };

export type RepairedArguments = { readonly input: JsonObject; readonly repairs: readonly string[] };

/**
 * Arguments that are valid, made from those that are not; undefined when there is any doubt about what was meant. What
 * is valid is given back as it is. Nothing is added: what is missing stays missing. Never throws.
 */
export async function repairArguments(
  given: RawArguments,
  schema: Schema,
): Promise<RepairedArguments | undefined> {
  const read = given.raw === undefined ? { value: given.input, repairs: [] } : readRaw(given.raw);
  if (!read || !isAllowed(read.value)) return undefined;
  if (await accepts(schema, read.value)) return { input: read.value, repairs: read.repairs };
  const { value, repairs } = coerce(read.value, schema.json);
  if (repairs.length === 0 || !isAllowed(value) || !(await accepts(schema, value))) return undefined;
  return { input: value, repairs: [...read.repairs, ...repairs] };
}

async function accepts(schema: Schema, value: Json): Promise<boolean> {
  try {
    return (await schema.validate(value)).valid;
  } catch {
    return false; // what a schema throws is told where the call as it was said is checked
  }
}

function readRaw(raw: string): LenientJson | undefined {
  if (raw.trim() === "") return { value: {}, repairs: [] };
  if (raw.length > maxArgumentCharacters) return undefined;
  const read = parseLenient(raw);
  if (typeof read?.value !== "string") return read;
  const inner = parseLenient(read.value);
  return (
    inner && { value: inner.value, repairs: [...read.repairs, "read JSON inside a string", ...inner.repairs] }
  );
}

function isAllowed(value: Json): value is JsonObject {
  return isRecord(value) && findLimitProblem(value) === undefined;
}
