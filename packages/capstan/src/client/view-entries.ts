import type { Fact } from "../event.ts";
import { type AssistantEntry, getCalls, getText, type ResultEntry } from "../history.ts";
import type { CallView, EntryView, PendingView } from "./session-view.ts";

export type AssistantView = Extract<EntryView, { type: "assistant" }>;

/** Something the agent said or did, with what is known of it. */
export function heardView(
  { runId, agent, turn }: Pick<Fact, "runId" | "agent" | "turn">,
  said: Partial<Pick<AssistantView, "text" | "reasoning" | "citations" | "calls">>,
): AssistantView {
  return {
    type: "assistant",
    runId,
    agent,
    turn,
    text: "",
    reasoning: "",
    citations: [],
    calls: [],
    ...said,
  };
}

export function assistantView(fact: Extract<Fact, { type: "message" }>): AssistantView {
  return heardView(fact, { ...saidIn(fact.entry, []), citations: fact.citations ?? [] });
}

/** What the input of a run shows: also the answers and calls of a history that a client brings along. */
export function entriesOf(fact: Extract<Fact, { type: "run_start" }>): EntryView[] {
  const { runId, input } = fact;
  const results = input.filter((entry) => entry.type === "result");
  return input.flatMap((entry): EntryView[] => {
    if (entry.type === "user") return [{ type: "user", runId, content: entry.content }];
    if (entry.type === "assistant") return [heardView(fact, saidIn(entry, results))];
    if (entry.type === "summary") return [{ type: "notice", runId, code: "summary", message: entry.text }];
    return [];
  });
}

function saidIn(
  entry: AssistantEntry,
  results: readonly ResultEntry[],
): Pick<AssistantView, "text" | "reasoning" | "calls"> {
  return {
    text: getText(entry),
    reasoning: entry.parts.map((part) => (part.type === "reasoning" ? part.text : "")).join(""),
    calls: getCalls(entry).map(({ id, name, input }) => {
      const result = results.find(({ callId }) => callId === id);
      return { id, name, input, ...endOf(result) };
    }),
  };
}

function endOf(result: ResultEntry | undefined): Pick<CallView, "state" | "result" | "ui"> {
  if (!result) return { state: "said" };
  return { state: result.status, result: result.content, ...(result.ui && { ui: result.ui }) };
}

export function pendingOf(fact: Extract<Fact, { type: "approval_required" }>): PendingView {
  const { callId, name, reason, shown, digest, question, number, parentCallId } = fact;
  return {
    ...{ callId, name, needs: "approval", reason, shown, digest },
    ...(question && { question }),
    ...(number !== undefined && { number }),
    ...(parentCallId !== undefined && { parentCallId }),
  };
}
