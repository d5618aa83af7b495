import type { Json } from "../base/json.ts";
import type { Fact } from "../kernel/event.ts";
import {
  type Citation,
  type Entry,
  type Fragment,
  type GeneratedMedia,
  type Part,
  toPlainText,
  type UiHint,
} from "../kernel/history.ts";
import { getProvenance, isContext } from "../kernel/provenance.ts";
import { findEnd, toPages } from "../runtime/load-facts.ts";
import { type RunSummary, summarizeRun } from "./summary.ts";

/** A tool call with its outcome. */
export type TranscriptCall = {
  readonly type: "call";
  readonly name: string;
  readonly input: Json;
  /** The approval request or its outcome. */
  approval?: string;
  result?: {
    readonly status: string;
    readonly text: string;
    readonly ms: number;
    readonly cached: boolean;
    readonly ui?: UiHint;
  };
};

/** Generated media. `data` is base64, if the export has the bytes. */
export type TranscriptMedia = { readonly type: "media"; readonly part: GeneratedMedia; data?: string };

/** One item of a transcript. */
export type TranscriptItem =
  | {
      readonly type: "user";
      readonly author: string;
      readonly content: string | readonly Part[];
      readonly at: number;
    }
  | {
      readonly type: "agent";
      readonly text: string;
      readonly name: string;
      readonly model?: string;
      readonly citations?: readonly Citation[];
    }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "summary"; readonly text: string }
  | { readonly type: "note"; readonly text: string }
  | TranscriptMedia
  | TranscriptCall;

export type TranscriptRun = RunSummary & {
  readonly items: readonly TranscriptItem[];
  readonly sources: readonly Fragment["source"][];
  /** Error or pending state, or empty for a run that is simply done. */
  readonly end: string;
};

type TranscriptBuilder = {
  readonly items: TranscriptItem[];
  readonly calls: Map<string, TranscriptCall>;
  lastText: string;
  /** The fact that `lastText` comes from. */
  textFact: Fact | undefined;
};

/** Builds the readable form of a run, the source of the Markdown and HTML exports. */
export async function buildRunTranscript(facts: readonly Fact[]): Promise<TranscriptRun> {
  const builder: TranscriptBuilder = { items: [], calls: new Map(), lastText: "", textFact: undefined };
  for await (const page of toPages(facts)) for (const fact of page) addFactItems(builder, fact);
  return {
    ...summarizeRun(facts),
    items: builder.items,
    sources: collectSources(facts),
    end: describeEnd(facts),
  };
}

function addFactItems(builder: TranscriptBuilder, fact: Fact): void {
  const { items, calls } = builder;
  if (fact.type === "run_start") for (const entry of fact.input) addEntryItems(builder, entry, fact);
  else if (fact.type === "message") addEntryItems(builder, fact.entry, fact);
  else if (fact.type === "steered") addEntryItems(builder, fact.entry, fact);
  else if (fact.type === "tool_call_start") {
    // Calls made by the runtime itself are not part of a message.
    if (!calls.has(fact.id)) addCallItem(builder, fact.id, { name: fact.name, input: fact.arguments });
  } else if (fact.type === "tool_call_result") {
    const { status, result, ms, ui, cached = false } = fact;
    const call = calls.get(fact.id);
    if (call && (!call.result || fact.retry !== undefined))
      call.result = { status, text: toPlainText(result), ms, cached, ...(ui && { ui }) };
  } else if (fact.type === "approval_required")
    setApproval(calls, fact.callId, `approval requested: ${fact.reason}`);
  else if (fact.type === "approval_resolved") {
    const answer = fact.approved ? "approved" : "denied";
    setApproval(calls, fact.callId, fact.reason === undefined ? answer : `${answer}: ${fact.reason}`);
  } else if (fact.type === "compacted" && fact.text !== undefined)
    items.push({ type: "summary", text: fact.text });
  else if (fact.type === "handoff")
    items.push({ type: "note", text: `${fact.from} hands off to ${fact.to}.` });
  else if (fact.type === "handoff_return")
    items.push({ type: "note", text: `${fact.from} returns to ${fact.to}.` });
  else if (fact.type === "warning") items.push({ type: "note", text: fact.message });
  else if (fact.type === "model_failed")
    items.push({ type: "note", text: `${fact.model} failed: ${fact.error.message}` });
  else if (fact.type === "retried") items.push({ type: "note", text: "The run was retried." });
  else if (fact.type === "cancel_requested") items.push({ type: "note", text: fact.reason });
  else if (fact.type === "done" && fact.text.trim() !== builder.lastText.trim())
    items.push({ type: "agent", text: fact.text, name: fact.agent });
}

function addEntryItems(builder: TranscriptBuilder, entry: Entry, fact: Fact): void {
  const { items } = builder;
  if (entry.type === "user")
    items.push({ type: "user", author: formatAuthor(entry), content: entry.content, at: fact.at });
  else if (entry.type === "summary") items.push(entry);
  else if (entry.type === "result") {
    const call = builder.calls.get(entry.callId);
    if (call)
      call.result ??= { status: entry.status, text: toPlainText(entry.content), ms: 0, cached: false };
  } else
    for (const part of entry.parts) {
      if (part.type === "reasoning" && part.text) items.push({ type: "reasoning", text: part.text });
      else if (part.type === "call")
        addCallItem(builder, part.id, { name: part.name, input: part.raw ?? part.input });
      else if (part.type === "media") items.push({ type: "media", part });
      else if (part.type === "text" && part.text.trim()) addTextItem(builder, part.text, fact);
    }
}

function formatAuthor(entry: Entry): string {
  if (isContext(entry)) return "Application";
  return getProvenance(entry) === "external" ? "External" : "You";
}

/** Adds a text, or continues the one before it: a provider may have marked two parts of one text. */
function addTextItem(builder: TranscriptBuilder, text: string, fact: Fact): void {
  const { items } = builder;
  const last = items.at(-1);
  const isContinued = last?.type === "agent" && builder.textFact === fact;
  if (isContinued) items.pop();
  const model = fact.type === "message" ? fact.model : undefined;
  builder.lastText = (isContinued ? last.text : "") + text;
  builder.textFact = fact;
  const citations = fact.type === "message" ? fact.citations : undefined;
  items.push({
    ...{ type: "agent", text: builder.lastText, name: fact.agent },
    ...(model && { model }),
    ...(citations && { citations }),
  });
}

function addCallItem(
  { items, calls }: TranscriptBuilder,
  id: string,
  fields: Pick<TranscriptCall, "name" | "input">,
): void {
  const call: TranscriptCall = { type: "call", ...fields };
  calls.set(id, call);
  items.push(call);
}

function setApproval(calls: ReadonlyMap<string, TranscriptCall>, callId: string, approval: string): void {
  const call = calls.get(callId);
  if (call) call.approval = approval;
}

function collectSources(facts: readonly Fact[]): Fragment["source"][] {
  const found = new Map<string, Fragment["source"]>();
  for (const fact of facts) {
    if (fact.type !== "tool_call_result") continue;
    for (const { source } of fact.contexts ?? []) found.set(`${source.title} ${source.url ?? ""}`, source);
  }
  return [...found.values()];
}

function describeEnd(facts: readonly Fact[]): string {
  const done = findEnd(facts);
  if (done) return done.error ? `${done.error.code}: ${done.error.message}` : "";
  return facts.at(-1)?.type === "waiting" ? "waiting for an answer" : "not finished";
}
