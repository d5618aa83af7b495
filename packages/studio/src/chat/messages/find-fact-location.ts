import type { Fact } from "capstan";
import type { Item } from "./build-items.ts";

/** Location of a fact in the conversation. */
export type ChatLocation = {
  /** Index of the row. */
  readonly index: number;
  readonly seq: number;
  /** The call within the row. */
  readonly callId: string | undefined;
};

/** Finds the row that shows a fact. Facts of a nested run belong to its call, and a turn's start to its message. */
export function findFactLocation(
  items: readonly Item[],
  facts: readonly Fact[],
  seq: number,
): ChatLocation | undefined {
  let at = facts[seq - 1]?.seq === seq ? seq - 1 : facts.findIndex((fact) => fact.seq === seq);
  const callId = findCallId(facts[at]);
  while (facts[at]?.parentRunId !== undefined) at--;
  const fact = facts[at];
  if (!fact) return undefined;
  const messageSeq = findMessage(items, fact)?.seq ?? fact.seq;
  const exact = items.findIndex((item) => item.seq === fact.seq);
  const found = exact >= 0 ? exact : items.findLastIndex((item) => item.seq <= messageSeq);
  const item = items[Math.max(0, found)];
  return item && { index: Math.max(0, found), seq: item.seq, callId };
}

function findMessage(items: readonly Item[], { runId, turn }: Fact): Item | undefined {
  return items.find(
    (item) => item.type === "assistant" && item.entry.runId === runId && item.entry.turn === turn,
  );
}

function findCallId(fact: Fact | undefined): string | undefined {
  if (fact?.type === "tool_call_start" || fact?.type === "tool_call_result") return fact.id;
  return fact?.type === "approval_required" ? fact.callId : fact?.parentCallId;
}
