import type { Fact } from "../event.ts";
import { type Entry, type Fragment, type Part, toPlainText } from "../history.ts";
import type { Json } from "../json.ts";
import type { SessionInfo } from "../store.ts";
import { factsByRun } from "./stored-facts.ts";
import { type RunSummary, runSummary, type SessionSummary, summaryOf } from "./summary.ts";

/** A call and what became of it. */
export type ToldCall = {
  readonly type: "call";
  readonly name: string;
  readonly input: Json;
  /** Whether a person was asked, and what they said. */
  approval?: string;
  result?: { readonly status: string; readonly text: string; readonly ms: number; readonly cached: boolean };
};

/** One thing that was said or done, as people read it. */
export type Told =
  | { readonly type: "person"; readonly content: string | readonly Part[]; readonly at: number }
  | { readonly type: "agent"; readonly text: string; readonly name: string; readonly model?: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "summary"; readonly text: string }
  | { readonly type: "note"; readonly text: string }
  | ToldCall;

/** A run with all that was said and done in it. */
export type ToldRun = RunSummary & {
  readonly told: readonly Told[];
  readonly sources: readonly Fragment["source"][];
  /** How it ended, when it is not simply done. */
  readonly end: string;
};

/** A session as a text for people: what exports to Markdown and HTML are made from. */
export type Transcript = Omit<SessionSummary, "runs"> & { readonly runs: readonly ToldRun[] };

/** Makes the facts of a session a text for people. */
export function transcriptOf(info: SessionInfo, facts: readonly Fact[]): Transcript {
  return {
    ...summaryOf(info, facts),
    runs: [...factsByRun(facts).values()].map(toldRun),
  };
}

type Telling = { readonly told: Told[]; readonly calls: Map<string, ToldCall>; lastText: string };

function toldRun(facts: readonly Fact[]): ToldRun {
  const telling: Telling = { told: [], calls: new Map(), lastText: "" };
  for (const fact of facts) tell(telling, fact);
  return { ...runSummary(facts), told: telling.told, sources: sourcesOf(facts), end: endOf(facts) };
}

function tell(telling: Telling, fact: Fact): void {
  const { told, calls } = telling;
  if (fact.type === "run_start") for (const entry of fact.input) tellEntry(telling, entry, fact);
  else if (fact.type === "message") tellEntry(telling, fact.entry, fact);
  else if (fact.type === "steered") tellEntry(telling, fact.entry, fact);
  else if (fact.type === "tool_call_start") {
    // Asked for by the model, or by the runtime itself.
    if (!calls.has(fact.id)) addCall(telling, fact.id, { name: fact.name, input: fact.arguments });
  } else if (fact.type === "tool_call_result") {
    const { status, result, ms, cached = false } = fact;
    const call = calls.get(fact.id);
    if (call) call.result ??= { status, text: toPlainText(result), ms, cached };
  } else if (fact.type === "approval_required") setApproval(calls, fact.callId, `asked: ${fact.reason}`);
  else if (fact.type === "approval_resolved") {
    const answer = fact.approved ? "approved" : "denied";
    setApproval(calls, fact.callId, fact.reason === undefined ? answer : `${answer}: ${fact.reason}`);
  } else if (fact.type === "compacted" && fact.text !== undefined)
    told.push({ type: "summary", text: fact.text });
  else if (fact.type === "handoff")
    told.push({ type: "note", text: `${fact.from} hands over to ${fact.to}.` });
  else if (fact.type === "handoff_return")
    told.push({ type: "note", text: `${fact.from} gives back to ${fact.to}.` });
  else if (fact.type === "warning") told.push({ type: "note", text: fact.message });
  else if (fact.type === "model_failed")
    told.push({ type: "note", text: `${fact.model} failed: ${fact.error.message}` });
  else if (fact.type === "cancel_requested") told.push({ type: "note", text: fact.reason });
  else if (fact.type === "done" && fact.text.trim() !== telling.lastText.trim())
    told.push({ type: "agent", text: fact.text, name: fact.agent });
}

function tellEntry(telling: Telling, entry: Entry, fact: Fact): void {
  const { told } = telling;
  if (entry.type === "user") told.push({ type: "person", content: entry.content, at: fact.at });
  else if (entry.type === "summary") told.push(entry);
  else if (entry.type === "result") {
    const call = telling.calls.get(entry.callId);
    if (call)
      call.result ??= { status: entry.status, text: toPlainText(entry.content), ms: 0, cached: false };
  } else
    for (const part of entry.parts) {
      if (part.type === "reasoning" && part.text) told.push({ type: "reasoning", text: part.text });
      else if (part.type === "call")
        addCall(telling, part.id, { name: part.name, input: part.raw ?? part.input });
      else if (part.type === "text" && part.text.trim()) {
        telling.lastText = part.text;
        const model = fact.type === "message" ? fact.model : undefined;
        told.push({ type: "agent", text: part.text, name: fact.agent, ...(model && { model }) });
      }
    }
}

function addCall({ told, calls }: Telling, id: string, about: Pick<ToldCall, "name" | "input">): void {
  const call: ToldCall = { type: "call", ...about };
  calls.set(id, call);
  told.push(call);
}

function setApproval(calls: ReadonlyMap<string, ToldCall>, callId: string, approval: string): void {
  const call = calls.get(callId);
  if (call) call.approval = approval;
}

function sourcesOf(facts: readonly Fact[]): Fragment["source"][] {
  const found = new Map<string, Fragment["source"]>();
  for (const fact of facts) {
    if (fact.type !== "tool_call_result") continue;
    for (const { source } of fact.contexts ?? []) found.set(`${source.title} ${source.url ?? ""}`, source);
  }
  return [...found.values()];
}

function endOf(facts: readonly Fact[]): string {
  const done = facts.find((fact) => fact.type === "done");
  if (done) return done.error ? `${done.error.code}: ${done.error.message}` : "";
  return facts.at(-1)?.type === "waiting" ? "waits for an answer" : "not finished";
}
