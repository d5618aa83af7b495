import type { StructuredOutput } from "../event.ts";
import type { Json } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { coerce } from "./coerce.ts";
import { parseLenient } from "./lenient-json.ts";
import { toJson } from "./serialise.ts";

/** Reads an answer that must have a form. What is certain is repaired; the rest is told, for the model to say it anew. */
export async function readOutput(text: string, schema: Schema): Promise<StructuredOutput> {
  const parsed = parseLenient(text);
  if (!parsed) return { issues: ["it is not JSON"] };
  const found = await schema.validate(parsed.value);
  if (found.valid) return { value: toJson(found.value) };
  const repaired: { value: Json } = coerce(parsed.value, schema.json);
  const again = await schema.validate(repaired.value);
  return again.valid ? { value: toJson(again.value) } : { issues: found.issues.slice(0, 10) };
}
