import type { CallPart } from "../history.ts";
import { canonical, type Json } from "../json.ts";
import type { Tool } from "../tool.ts";

/** What an approval is bound to: this run, this call, this tool as it was described, these arguments. */
export async function digestOf(
  runId: string,
  tool: Tool,
  call: Pick<CallPart, "id" | "input">,
): Promise<string> {
  const { name, description, schema } = tool;
  const subject = canonical([
    runId,
    call.id,
    name,
    description,
    JSON.parse(JSON.stringify(schema.json)),
    call.input,
  ] as Json);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subject));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
