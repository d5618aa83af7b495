import type { Fact, Json } from "capstan";
import { dataPart } from "./parts.ts";
import type { A2aPart } from "./wire.ts";

type Asked = Extract<Fact, { readonly type: "approval_required" }>;

/** What a run and the runs inside of it wait for. */
export interface OpenAsks {
  hear(fact: Fact): void;
  /** What is asked about these calls: words for a person, and for each call what a program needs to answer it. */
  parts(callIds: readonly string[]): readonly A2aPart[];
}

/** From the facts of a run. */
export function openAsks(): OpenAsks {
  const calls = new Map<string, { readonly name: string; readonly input: Json }>();
  const approvals = new Map<string, Asked>();

  function ask(callId: string): { readonly words: string; readonly data: A2aPart } {
    const asked = approvals.get(callId);
    if (asked) return approvalAsk(asked);
    const { name = "", input = {} } = calls.get(callId) ?? {};
    const data = dataPart({ type: "client_call", callId, name, input });
    return { words: `"${name}" is yours to run: send its result.`, data };
  }
  return {
    hear(fact) {
      if (fact.type === "approval_required") approvals.set(fact.callId, fact);
      if (fact.type === "approval_resolved") approvals.delete(fact.callId);
      if (fact.type !== "message") return;
      for (const part of fact.entry.parts)
        if (part.type === "call") calls.set(part.id, { name: part.name, input: part.input });
    },
    parts(callIds) {
      const asks = callIds.map(ask);
      return [{ text: asks.map(({ words }) => words).join("\n\n") }, ...asks.map(({ data }) => data)];
    },
  };
}

function approvalAsk({ callId, name, input, shown, reason, digest, question }: Asked) {
  const about = { callId, name, input, shown, reason, digest };
  if (!question) {
    const words = `"${name}" needs your approval (${reason}): ${shown}\nAnswer yes or no.`;
    return { words, data: dataPart({ type: "approval", ...about }) };
  }
  const { message, schema, url } = question;
  const asks = { message, schema: schema as Json | undefined, url };
  return {
    words: `"${name}" asks: ${message}`,
    data: dataPart({ type: "question", ...about, question: asDefined(asks) }),
  };
}

function asDefined(value: { readonly [key: string]: Json | undefined }): Json {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Json;
}
