import type { Fact } from "capstan";
import { type FactIndex, turnKey } from "../../data/fact-index.ts";
import type { Item } from "./build-items.ts";

/** Where something is in the conversation. */
export type ChatPlace = {
  /** The index of the item. */
  readonly at: number;
  readonly seq: number;
  /** The call in it. */
  readonly callId: string | undefined;
};

type Session = { readonly facts: readonly Fact[]; readonly index: FactIndex };

/** Where a fact is shown. What is inside a call belongs to the call, and the beginning of a turn to what it said. */
export function placeOfFact(
  items: readonly Item[],
  { facts, index }: Session,
  seq: number,
): ChatPlace | undefined {
  let at = facts[seq - 1]?.seq === seq ? seq - 1 : facts.findIndex((fact) => fact.seq === seq);
  const callId = callOf(facts[at]);
  while (facts[at]?.parentRunId !== undefined) at--;
  const fact = facts[at];
  if (!fact) return undefined;
  const said = index.messages.get(turnKey(fact.runId, fact.turn))?.seq ?? fact.seq;
  const exact = items.findIndex((item) => item.seq === fact.seq);
  const found = exact >= 0 ? exact : items.findLastIndex((item) => item.seq <= said);
  const item = items[Math.max(0, found)];
  return item && { at: Math.max(0, found), seq: item.seq, callId };
}

function callOf(fact: Fact | undefined): string | undefined {
  if (fact?.type === "tool_call_start" || fact?.type === "tool_call_result") return fact.id;
  return fact?.type === "approval_required" ? fact.callId : fact?.parentCallId;
}
