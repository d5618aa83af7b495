import type { Event, Fact, Part } from "capstan";
import { type Card, isSettled } from "./tool-card.ts";

/** Cards of the active calls, in call order. */
export interface CardList {
  handleEvent(event: Event): void;
  /** Adds a card for a call that another process started. */
  add(card: Card): void;
  /** Removes and returns the leading settled cards. */
  takeSettled(): Card[];
  readonly open: readonly Card[];
  /** Removes and returns all cards; called when the run is over. */
  clear(): Card[];
}

/** Tracks the calls of a run and of its nested runs. */
export function createCardList(getTime: () => number): CardList {
  let top: Card[] = [];
  const byId = new Map<string, Card>();

  function add(card: Card, parentCallId: string | undefined): void {
    const parent = parentCallId === undefined ? undefined : byId.get(parentCallId);
    if (parentCallId !== undefined && !parent) return;
    byId.set(card.id, card);
    (parent?.nestedCards ?? top).push(card);
  }

  function addCalls({ entry, parentCallId }: Extract<Fact, { type: "message" }>): void {
    for (const part of entry.parts) {
      if (part.type !== "call") continue;
      const { id, name, input } = part;
      add({ id, name, input, state: "said", nestedCards: [] }, parentCallId);
    }
  }

  function startCall(fact: Extract<Fact, { type: "tool_call_start" }>): void {
    const { id, name, arguments: input, parentCallId } = fact;
    if (!byId.has(id)) add({ id, name, input, state: "said", nestedCards: [] }, parentCallId);
    updateCard(id, { state: "running", startedAt: getTime() });
  }

  function settleCall(fact: Extract<Fact, { type: "tool_call_result" }>): void {
    const { id, status, result, ms, ui } = fact;
    updateCard(id, { state: status, ms, result: toDisplayText(result), ...(ui && { ui }) });
  }

  function updateCard(id: string, fields: Partial<Card>): void {
    const card = byId.get(id);
    if (card) Object.assign(card, fields);
  }

  return {
    get open() {
      return top;
    },
    add: (card) => add(card, undefined),
    handleEvent(event) {
      if (event.type === "message") addCalls(event);
      else if (event.type === "tool_call_start") startCall(event);
      else if (event.type === "tool_call_result") settleCall(event);
      else if (event.type === "approval_required") updateCard(event.callId, { state: "asking" });
      else if (event.type === "approval_resolved") updateCard(event.callId, { state: "said" });
      else if (event.type === "tool_progress") updateCard(event.id, { progress: formatProgress(event.data) });
    },
    takeSettled() {
      const end = top.findIndex((card) => !isSettled(card));
      const done = end === -1 ? top : top.slice(0, end);
      top = end === -1 ? [] : top.slice(end);
      return done;
    },
    clear() {
      const left = top;
      top = [];
      byId.clear();
      return left;
    },
  };
}

function formatProgress(data: unknown): string {
  if (typeof data === "string") return data;
  const { message } = Object(data) as { readonly message?: unknown };
  return typeof message === "string" ? message : JSON.stringify(data);
}

/** Returns the text; other parts are named. */
export function toDisplayText(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mediaType}]`))
    .join("\n");
}
