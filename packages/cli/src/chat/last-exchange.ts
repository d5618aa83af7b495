import { type Fact, isContext } from "capstan";
import { buildView, type CallView, type EntryView, type SessionView } from "capstan/client";
import { toDisplayText } from "./cards.ts";
import { retryHint, toNotice } from "./notices.ts";
import type { Card } from "./tool-card.ts";
import type { Transcript } from "./transcript.ts";

/** Shows the last exchange of a stored session; returns the session's view. */
export function showLastExchange(facts: readonly Fact[], transcript: Transcript): SessionView {
  const view = buildView(facts);
  const last = view.entries.filter(({ runId }) => runId === view.runId);
  const from = last.findIndex(({ type }) => type === "user");
  const run = view.runs.get(view.runId ?? "");
  if (run?.start?.imported) transcript.showNotice(importHint);
  for (const entry of last.slice(Math.max(0, from))) showEntry(entry, transcript);
  const lost = facts.findLast(({ type, runId }) => type === "recovered" && runId === view.runId);
  const told = view.status === "running" && lost ? toNotice(lost) : undefined;
  if (told) transcript.showNotice(told.text);
  if (view.status === "failed" || view.status === "cancelled")
    transcript.showNotice(view.error?.message ?? "This run was stopped.", "yellow");
  if (run?.end?.canRetry) transcript.showNotice(retryHint);
  return view;
}

const importHint = "Imported from a file. Its messages do not count as yours.";

function showEntry(entry: EntryView, transcript: Transcript): void {
  if (entry.type === "user") {
    if (isContext(entry)) return;
    const text = stripFiles(toDisplayText(entry.content));
    if (text !== "") transcript.showUserMessage(text);
  } else if (entry.type === "notice") {
    if (entry.message) transcript.showNotice(entry.message);
  } else {
    if (entry.text.trim() !== "") transcript.showAnswer(entry.text);
    for (const call of entry.calls) transcript.showCard(toCard(call));
  }
}

/** Removes attached files from a message. */
function stripFiles(text: string): string {
  const at = text.search(/(?:^|\n\n)<file path="/);
  return at === -1 ? text : text.slice(0, at);
}

function toCard({ id, name, input, state, result, ui, ms }: CallView): Card {
  return {
    ...{ id, name, input, state, nestedCards: [] },
    ...(result !== undefined && { result: toDisplayText(result) }),
    ...(ui && { ui }),
    ...(ms !== undefined && { ms }),
  };
}
