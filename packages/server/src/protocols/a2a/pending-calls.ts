import type { Fact, Json } from "capstan";
import { createDataPart } from "./parts.ts";
import type { A2aPart } from "./wire.ts";

type ApprovalFact = Extract<Fact, { readonly type: "approval_required" }>;

/** Tracks the pending calls of a run and its nested runs. */
export interface PendingCalls {
  add(fact: Fact): void;
  /** Builds a text part for users, and one data part per call for programs. */
  buildParts(callIds: readonly string[]): readonly A2aPart[];
}

export function trackPendingCalls(): PendingCalls {
  const calls = new Map<string, { readonly name: string; readonly input: Json }>();
  const approvals = new Map<string, ApprovalFact>();

  function describeCall(callId: string): { readonly words: string; readonly data: A2aPart } {
    const asked = approvals.get(callId);
    if (asked) return describeApproval(asked);
    const { name = "", input = {} } = calls.get(callId) ?? {};
    const data = createDataPart({ type: "client_call", callId, name, input });
    return { words: `"${name}" runs at the client. Send its result.`, data };
  }
  return {
    add(fact) {
      if (fact.type === "approval_required") approvals.set(fact.callId, fact);
      if (fact.type === "approval_resolved") approvals.delete(fact.callId);
      if (fact.type !== "message") return;
      for (const part of fact.entry.parts)
        if (part.type === "call") calls.set(part.id, { name: part.name, input: part.input });
    },
    buildParts(callIds) {
      const asks = callIds.map(describeCall);
      return [{ text: asks.map(({ words }) => words).join("\n\n") }, ...asks.map(({ data }) => data)];
    },
  };
}

function describeApproval({ callId, name, input, shown, reason, digest, expiresAt, question }: ApprovalFact) {
  const about = {
    ...{ callId, name, input, shown, reason, digest },
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  };
  if (!question) {
    const words = `"${name}" needs your approval. ${reason}\n${shown}\nAnswer yes or no.`;
    return { words, data: createDataPart({ type: "approval", ...about }) };
  }
  const { message, schema, url } = question;
  const asks = { message, schema: schema as Json | undefined, url };
  return {
    words: `"${name}" asks: ${message}`,
    data: createDataPart({ type: "question", ...about, question: omitUndefined(asks) }),
  };
}

function omitUndefined(value: { readonly [key: string]: Json | undefined }): Json {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Json;
}
