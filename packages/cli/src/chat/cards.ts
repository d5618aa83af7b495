import type { Event, Fact, Part } from "capstan";
import { type Card, isSettled } from "./tool-card.ts";

/** The cards of the calls that are under way, in the order they were made. */
export interface Cards {
  hear(event: Event): void;
  /** One whose beginning was not heard: it was begun by a process that is gone. */
  add(card: Card): void;
  /** Takes out the first ones that have come to their end. */
  settled(): Card[];
  readonly open: readonly Card[];
  /** Takes out all of them: the run is over. */
  clear(): Card[];
}

/** Follows the calls of a run, and those that nested agents make inside them. */
export function cards(now: () => number): Cards {
  let top: Card[] = [];
  const byId = new Map<string, Card>();

  function add(card: Card, parentCallId: string | undefined): void {
    const parent = parentCallId === undefined ? undefined : byId.get(parentCallId);
    if (parentCallId !== undefined && !parent) return;
    byId.set(card.id, card);
    (parent?.inside ?? top).push(card);
  }

  function hearMessage({ entry, parentCallId }: Extract<Fact, { type: "message" }>): void {
    for (const part of entry.parts) {
      if (part.type !== "call") continue;
      const { id, name, input } = part;
      add({ id, name, input, state: "said", inside: [] }, parentCallId);
    }
  }

  function begin(fact: Extract<Fact, { type: "tool_call_start" }>): void {
    const { id, name, arguments: input, parentCallId } = fact;
    if (!byId.has(id)) add({ id, name, input, state: "said", inside: [] }, parentCallId);
    change(id, { state: "running", startedAt: now() });
  }

  function settle(fact: Extract<Fact, { type: "tool_call_result" }>): void {
    const { id, status, result, ms, ui } = fact;
    change(id, { state: status, ms, result: plain(result), ...(ui && { ui }) });
  }

  function change(id: string, fields: Partial<Card>): void {
    const card = byId.get(id);
    if (card) Object.assign(card, fields);
  }

  return {
    get open() {
      return top;
    },
    add: (card) => add(card, undefined),
    hear(event) {
      if (event.type === "message") hearMessage(event);
      else if (event.type === "tool_call_start") begin(event);
      else if (event.type === "tool_call_result") settle(event);
      else if (event.type === "approval_required") change(event.callId, { state: "asking" });
      else if (event.type === "approval_resolved") change(event.callId, { state: "said" });
      else if (event.type === "tool_progress") change(event.id, { progress: progressText(event.data) });
    },
    settled() {
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

function progressText(data: unknown): string {
  return typeof data === "string" ? data : JSON.stringify(data);
}

/** What is not text is named, not shown. */
export function plain(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mediaType}]`))
    .join("\n");
}
