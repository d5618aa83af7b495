import type { CallPart } from "../history.ts";
import { type Json, toCanonicalJson } from "../json.ts";
import type { Question, Tool } from "../tool.ts";

type ApprovedCall = Pick<CallPart, "id" | "input"> & {
  /** For a question asked during the call: its number and content. */
  readonly asked?: readonly [number: number, question: Question];
};

/** Computes the digest an approval is bound to: run, call, tool definition, arguments and question. */
export async function computeDigest(runId: string, tool: Tool, call: ApprovedCall): Promise<string> {
  const { name, description, schema, effects, reads, foreign, idempotent } = tool;
  const definition = { name, description, schema: schema.json, effects, reads, foreign, idempotent };
  const subject = toCanonicalJson([
    runId,
    call.id,
    JSON.parse(JSON.stringify(definition)),
    call.input,
    ...(call.asked ?? []),
  ] as Json);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subject));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
