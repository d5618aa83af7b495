import { type Json, toCanonicalJson } from "../../base/json.ts";
import type { ApprovalScope } from "../../kernel/approval-scope.ts";
import type { CallPart } from "../../kernel/history.ts";
import type { Question, Tool } from "../../kernel/tool.ts";
import { withPhrases } from "../../kernel/tool-examples.ts";

type ApprovedCall = Pick<CallPart, "id" | "input"> & {
  /** For a question asked during the call: its number and content. */
  readonly asked?: readonly [number: number, question: Question];
};

/** Computes the digest an approval is bound to: run, call, tool definition, arguments and question. */
export function computeDigest(runId: string, tool: Tool, call: ApprovedCall): Promise<string> {
  return hashParts([runId, call.id, getDefinition(tool), call.input, ...(call.asked ?? [])]);
}

/** Computes the digest an approval rule is bound to: tool definition, and the target, the pattern or all arguments. */
export async function computeScope(
  tool: Tool,
  covered: { readonly target: string } | { readonly pattern: string } | { readonly input: Json },
): Promise<ApprovalScope> {
  const digest = await hashParts([getDefinition(tool), covered]);
  return "input" in covered ? { digest } : { digest, ...covered };
}

function getDefinition(tool: Tool): object {
  const { name, description, effects, reads, foreign, idempotent } = tool;
  return { name, description, schema: withPhrases(tool), effects, reads, foreign, idempotent };
}

/** Whether an approval with this digest covers the call. */
export async function matchesDigest(
  digest: string,
  runId: string,
  { tool, call }: { readonly tool: Tool; readonly call: ApprovedCall },
): Promise<boolean> {
  if (digest === (await computeDigest(runId, tool, call))) return true;
  // Facts of version 1: approvals requested before an upgrade are bound to fewer parts of the definition.
  const { name, description } = tool;
  const { id, input, asked = [] } = call;
  return digest === (await hashParts([runId, id, name, description, withPhrases(tool), input, ...asked]));
}

async function hashParts(parts: readonly unknown[]): Promise<string> {
  const subject = toCanonicalJson(JSON.parse(JSON.stringify(parts)) as Json);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subject));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
