import { isRecord, type Json } from "../../base/json.ts";
import type { Schema } from "../../schema/schema.ts";
import { coerce } from "./coerce.ts";
import { type LenientJson, parseLenient } from "./lenient-json.ts";
import { findLimitProblem, type JsonObject, maxArgumentCharacters } from "./parse-arguments.ts";

/** Arguments as the model wrote them; `raw` is set when the text is not a JSON object. */
export type RawArguments = { readonly raw?: string; readonly input: JsonObject };

export type RepairedArguments = { readonly input: JsonObject; readonly repairs: readonly string[] };

/**
 * Repairs invalid arguments; returns undefined when the intent is ambiguous. Valid arguments are returned unchanged, and
 * missing values are never added. Never throws.
 */
export async function repairArguments(
  rawArguments: RawArguments,
  schema: Schema,
): Promise<RepairedArguments | undefined> {
  const parsed =
    rawArguments.raw === undefined ? { value: rawArguments.input, repairs: [] } : readRaw(rawArguments.raw);
  if (!parsed || !isAllowed(parsed.value)) return undefined;
  if (await accepts(schema, parsed.value)) return { input: parsed.value, repairs: parsed.repairs };
  const { value, repairs } = coerce(parsed.value, schema.json);
  if (repairs.length === 0 || !isAllowed(value) || !(await accepts(schema, value))) return undefined;
  return { input: value, repairs: [...parsed.repairs, ...repairs] };
}

async function accepts(schema: Schema, value: Json): Promise<boolean> {
  try {
    return (await schema.validate(value)).valid;
  } catch {
    return false; // the check of the original call reports the error
  }
}

function readRaw(raw: string): LenientJson | undefined {
  if (raw.trim() === "") return { value: {}, repairs: [] };
  if (raw.length > maxArgumentCharacters) return undefined;
  const parsed = parseLenient(raw);
  if (typeof parsed?.value !== "string") return parsed;
  const inner = parseLenient(parsed.value);
  return (
    inner && {
      value: inner.value,
      repairs: [...parsed.repairs, "read JSON inside a string", ...inner.repairs],
    }
  );
}

function isAllowed(value: Json): value is JsonObject {
  return isRecord(value) && findLimitProblem(value) === undefined;
}
