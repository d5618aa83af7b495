import type { Fact } from "capstan";
import type { OpenSession } from "../connection/open-session.ts";

/** What of a conversation a fact belongs to. What is inside a call belongs to the call. */
type ChatPlace = {
  /** Of the answers, from 0. */
  readonly answer: number;
  readonly answers: number;
  readonly callId: string | undefined;
};

/** Where a fact is in the conversation. */
export function chatPlaceOf({ facts, view }: Pick<OpenSession, "facts" | "view">, seq: number): ChatPlace {
  let at = facts[seq - 1]?.seq === seq ? seq - 1 : facts.findIndex((fact) => fact.seq === seq);
  const callId = callOf(facts[at]);
  while (facts[at]?.parentRunId !== undefined) at--;
  const fact = facts[at];
  const turns = view.entries.filter((entry) => entry.type === "assistant");
  const answer = turns.findIndex(({ runId, turn }) => runId === fact?.runId && turn >= (fact?.turn ?? 0));
  return { answer: Math.max(0, answer), answers: turns.length, callId };
}

function callOf(fact: Fact | undefined): string | undefined {
  if (fact?.type === "tool_call_start" || fact?.type === "tool_call_result") return fact.id;
  return fact?.type === "approval_required" ? fact.callId : fact?.parentCallId;
}

/** A list that draws only what is near needs so many looks until the place is drawn. */
const looks = 4;

/** Scrolls the conversation to a fact. */
export function showInChat(session: Pick<OpenSession, "facts" | "view">, seq: number): void {
  const scroller = document.querySelector<HTMLElement>('main section[aria-label="Conversation"]');
  if (scroller) look(scroller, chatPlaceOf(session, seq), looks);
}

function look(scroller: HTMLElement, place: ChatPlace, left: number): void {
  const { answer, answers, callId } = place;
  const call = callId && scroller.querySelector<HTMLElement>(`[data-call="${CSS.escape(callId)}"]`);
  const said = scroller.querySelectorAll<HTMLElement>('article[aria-label$=" says"]');
  // When all are drawn, the one in question can be counted.
  const found = call || (said.length >= answers ? said[answer] : undefined);
  if (found) {
    found.scrollIntoView({ block: call ? "center" : "start" });
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isStill) found.animate([{ opacity: 0.3 }, { opacity: 1 }], { duration: 150 });
  } else if (left > 0) {
    scroller.scrollTop = (scroller.scrollHeight * answer) / Math.max(1, answers);
    requestAnimationFrame(() => look(scroller, place, left - 1));
  }
}
