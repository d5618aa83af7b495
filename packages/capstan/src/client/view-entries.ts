import type { Fact } from "../kernel/event.ts";
import {
  type AssistantEntry,
  formatPlaceholder,
  getCalls,
  getMedia,
  getText,
  type ResultEntry,
  type UserEntry,
} from "../kernel/history.ts";
import type { CallView, EntryView, PendingView } from "./session-view.ts";

export type AssistantView = Extract<EntryView, { type: "assistant" }>;

/** Creates an assistant entry; missing content is empty. */
export function createAssistantView(
  { runId, seq, agent, turn }: Pick<Fact, "runId" | "seq" | "agent" | "turn">,
  content: Partial<Pick<AssistantView, "text" | "reasoning" | "citations" | "media" | "calls" | "ms">>,
): AssistantView {
  return {
    type: "assistant",
    runId,
    seq,
    agent,
    turn,
    text: "",
    reasoning: "",
    citations: [],
    media: [],
    calls: [],
    ...content,
  };
}

export function toAssistantView(fact: Extract<Fact, { type: "message" }>): AssistantView {
  return createAssistantView(fact, {
    ...readAssistantEntry(fact.entry, []),
    citations: fact.citations ?? [],
    ms: fact.ms,
  });
}

export function toUserView({ runId, seq }: Fact, { content, provenance }: UserEntry): EntryView {
  return { type: "user", runId, seq, content, ...(provenance && { provenance }) };
}

/** Returns the entries for the input of a run, including a history sent by the client. */
export function buildInputEntries(fact: Extract<Fact, { type: "run_start" }>): EntryView[] {
  const { runId, seq, input } = fact;
  const results = input.filter((entry) => entry.type === "result");
  return input.flatMap((entry): EntryView[] => {
    if (entry.type === "user") return [toUserView(fact, entry)];
    if (entry.type === "assistant") return [createAssistantView(fact, readAssistantEntry(entry, results))];
    if (entry.type === "summary")
      return [{ type: "notice", runId, seq, code: "summary", message: entry.text }];
    return [];
  });
}

export function readAssistantEntry(
  entry: AssistantEntry,
  results: readonly ResultEntry[],
): Pick<AssistantView, "text" | "reasoning" | "media" | "calls"> {
  return {
    media: getMedia(entry),
    text: getText(entry),
    reasoning: entry.parts.map((part) => (part.type === "reasoning" ? part.text : "")).join(""),
    calls: getCalls(entry).map(({ id, name, input }) => {
      const result = results.find(({ callId }) => callId === id);
      return { id, name, input, ...toCallOutcome(result) };
    }),
  };
}

function toCallOutcome(result: ResultEntry | undefined): Pick<CallView, "state" | "result" | "ui"> {
  if (!result) return { state: "said" };
  return { state: result.status, result: result.content, ...(result.ui && { ui: result.ui }) };
}

export function toPendingView(fact: Extract<Fact, { type: "approval_required" }>): PendingView {
  const { callId, name, input, reason, shown, digest, because, leaks, question, number, parentCallId } = fact;
  const { expiresAt, always, pattern, ui } = fact;
  return {
    ...{ callId, name, needs: "approval", input, reason, shown, digest },
    ...(because && { because }),
    ...(leaks && { leaks }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(always && { always }),
    ...(pattern && { pattern }),
    ...(ui && { ui }),
    ...(question && { question }),
    ...(number !== undefined && { number }),
    ...(parentCallId !== undefined && { parentCallId }),
  };
}

/** The change of a call when the user has decided, who may have changed its arguments. */
export function toDecidedCall({
  callId: id,
  input,
}: Extract<Fact, { type: "approval_resolved" }>): Pick<CallView, "id"> & Partial<CallView> {
  return { id, state: "said", ...(input !== undefined && { input, isEdited: true }) };
}

/** Says why the text that was shown is gone. */
export function toDiscardNotice(fact: Extract<Fact, { type: "model_failed" }>): EntryView {
  const { runId, seq, model, error, discarded } = fact;
  const message = `${model} failed, and its incomplete answer of ${discarded} ${discarded === 1 ? "character" : "characters"} was discarded: ${error.message}`;
  return { type: "notice", runId, seq, code: "answer_discarded", message };
}

/** The text of an answer in its `done` fact: an answer that is only media has their placeholders. */
export function formatAnswer({ text, media }: AssistantView): string {
  return text.trim() || media.map(formatPlaceholder).join("\n");
}
