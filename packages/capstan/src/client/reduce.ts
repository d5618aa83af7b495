import { type Delta, type Event, type Fact, isFact } from "../event.ts";
import { addUsage } from "../state.ts";
import { type CallView, type EntryView, emptyView, nothingLive, type SessionView } from "./session-view.ts";
import { assistantView, entriesOf, heardView, pendingOf } from "./view-entries.ts";

/** The view after these events. */
export function viewOf(events: Iterable<Event>): SessionView {
  let view = emptyView;
  for (const event of events) view = reduce(view, event);
  return view;
}

/**
 * One event further. Facts alone give the same view as facts and deltas, once the run rests or ends. A fact that was seen
 * before changes nothing, so a stream may begin again anywhere. Of nested runs it shows what they ask and what they cost.
 */
export function reduce(view: SessionView, event: Event): SessionView {
  const isNested = event.parentRunId !== undefined;
  if (!isFact(event)) return isNested ? view : hearDelta(view, event);
  if (event.seq <= view.seq) return view;
  return { ...(isNested ? applyNested(view, event) : applyFact(view, event)), seq: event.seq };
}

function applyNested(view: SessionView, fact: Fact): SessionView {
  switch (fact.type) {
    case "approval_required":
      return { ...view, pending: [...without(view, fact.callId), pendingOf(fact)] };
    case "approval_resolved":
      return { ...view, pending: without(view, fact.callId) };
    case "tool_call_result":
      return { ...view, pending: without(view, fact.id) };
    case "message":
    case "compacted":
    case "turn_summary":
      return fact.usage ? { ...view, usage: addUsage(view.usage, fact.usage) } : view;
    default:
      return view;
  }
}

function hearDelta(view: SessionView, event: Delta): SessionView {
  if (view.status !== "running" || event.runId !== view.runId) return view;
  const { retry: _, ...live } = view.live;
  switch (event.type) {
    case "content_delta":
      return { ...view, live: { ...live, text: live.text + event.delta } };
    case "reasoning_delta":
      return { ...view, live: { ...live, reasoning: live.reasoning + event.delta } };
    case "turn_summary_delta":
      return { ...view, live: { ...live, summary: live.summary + event.delta } };
    case "citation": {
      const { title, url } = event.source;
      const citation = { n: event.n, id: event.id, title, ...(url !== undefined && { url }) };
      return { ...view, live: { ...live, citations: [...live.citations, citation] } };
    }
    case "tool_call_delta": {
      const { id, name, delta } = event;
      const known = live.calls.find((call) => call.id === id);
      const others = live.calls.filter((call) => call !== known);
      const call = { id, name: name || (known?.name ?? ""), arguments: (known?.arguments ?? "") + delta };
      return { ...view, live: { ...live, calls: [...others, call] } };
    }
    case "tool_progress": {
      const others = live.progress.filter(({ callId }) => callId !== event.id);
      return { ...view, live: { ...live, progress: [...others, { callId: event.id, data: event.data }] } };
    }
    case "message_restart":
      return { ...view, live: { ...live, text: "", reasoning: "", citations: [], calls: [] } };
    case "retry":
      return {
        ...view,
        live: { ...live, retry: { attempt: event.attempt, code: event.code, waitMs: event.waitMs } },
      };
  }
}

function applyFact(view: SessionView, fact: Fact): SessionView {
  if (fact.type === "run_start") return startRun(view, fact);
  if (fact.runId !== view.runId) return view;
  const { runId } = fact;
  const awake: SessionView = view.status === "waiting" ? { ...view, status: "running" } : view;
  switch (fact.type) {
    case "turn_start":
      return { ...awake, turn: fact.turn, live: nothingLive };
    case "message":
      return {
        ...add(awake, assistantView(fact)),
        live: nothingLive,
        usage: addUsage(view.usage, fact.usage),
      };
    case "model_failed":
      return { ...awake, live: nothingLive };
    case "compacted":
      return {
        ...add(awake, { type: "notice", runId, code: "compacted", message: fact.text ?? "" }),
        ...(fact.usage && { usage: addUsage(view.usage, fact.usage) }),
      };
    case "tool_call_start":
      return startCall(awake, fact);
    case "tool_call_result":
      return settleCall(awake, fact);
    case "approval_required": {
      const asking = withCall(awake, fact.callId, { state: "asking" });
      return { ...asking, pending: [...without(awake, fact.callId), pendingOf(fact)] };
    }
    case "approval_resolved":
      return { ...withCall(awake, fact.callId, { state: "said" }), pending: without(awake, fact.callId) };
    case "waiting":
      return rest(view, fact.callIds);
    case "steered":
      return add(awake, { type: "user", runId, content: fact.entry.content });
    case "turn_summary":
      return summarise(awake, fact);
    case "warning":
    case "limit_reached":
      return add(awake, { type: "notice", runId, code: fact.code, message: fact.message });
    case "done":
      return end(view, fact);
    default:
      return awake;
  }
}

function startRun(view: SessionView, fact: Extract<Fact, { type: "run_start" }>): SessionView {
  const { error: _, ...rest } = view;
  const said = entriesOf(fact);
  // A client that keeps the history itself sends all of it each time.
  const entries = fact.policy.memory === "client" ? said : [...view.entries, ...said];
  const { runId } = fact;
  return { ...rest, status: "running", runId, turn: 0, entries, live: nothingLive, pending: [] };
}

function add(view: SessionView, entry: EntryView): SessionView {
  return { ...view, entries: [...view.entries, entry] };
}

function without({ pending }: SessionView, callId: string): SessionView["pending"] {
  return pending.filter((waiting) => waiting.callId !== callId);
}

/** The view with a change to the newest call of this id. */
function withCall(view: SessionView, callId: string, change: Partial<CallView>): SessionView {
  const at = view.entries.findLastIndex(
    (entry) => entry.type === "assistant" && entry.calls.some(({ id }) => id === callId),
  );
  const entry = view.entries[at];
  if (entry?.type !== "assistant") return view;
  const calls = entry.calls.map((call) => (call.id === callId ? { ...call, ...change } : call));
  return { ...view, entries: view.entries.with(at, { ...entry, calls }) };
}

function startCall(view: SessionView, fact: Extract<Fact, { type: "tool_call_start" }>): SessionView {
  const started = withCall(view, fact.id, { state: "running" });
  if (started !== view) return started;
  // Not asked for by the model: the fallback tool of a limit.
  const call: CallView = { id: fact.id, name: fact.name, input: fact.arguments, state: "running" };
  return add(view, heardView(fact, { calls: [call] }));
}

function settleCall(view: SessionView, fact: Extract<Fact, { type: "tool_call_result" }>): SessionView {
  const { id, status, result, data, message, ui, error, ms } = fact;
  const settled = withCall(view, id, {
    state: status,
    result,
    ms,
    ...(data !== undefined && { data }),
    ...(message !== undefined && { message }),
    ...(ui && { ui }),
    ...(error && { error }),
  });
  const progress = view.live.progress.filter(({ callId }) => callId !== id);
  return { ...settled, live: { ...view.live, progress }, pending: without(view, id) };
}

/** What a run waits for and nobody was asked to approve is with the client. */
function rest(view: SessionView, callIds: readonly string[]): SessionView {
  const calls = view.entries.flatMap((entry) => (entry.type === "assistant" ? entry.calls : []));
  const withClient = callIds
    .filter(
      (callId) => !view.pending.some((asked) => asked.callId === callId || asked.parentCallId === callId),
    )
    .map((callId) => {
      const name = calls.findLast(({ id }) => id === callId)?.name ?? "";
      return { callId, name, needs: "answer" as const };
    });
  return { ...view, status: "waiting", live: nothingLive, pending: [...view.pending, ...withClient] };
}

function summarise(view: SessionView, fact: Extract<Fact, { type: "turn_summary" }>): SessionView {
  const { turn, text, usage, runId } = fact;
  const at = view.entries.findLastIndex(
    (entry) => entry.type === "assistant" && entry.runId === runId && entry.turn === turn,
  );
  const entry = view.entries[at];
  const entries =
    entry && text ? view.entries.with(at, { ...entry, summary: text } as EntryView) : view.entries;
  const live = { ...view.live, summary: "" };
  return { ...view, entries, live, ...(usage && { usage: addUsage(view.usage, usage) }) };
}

function end(view: SessionView, fact: Extract<Fact, { type: "done" }>): SessionView {
  const last = view.entries.findLast(
    (entry) => entry.type === "assistant" && entry.runId === fact.runId && entry.text.trim() !== "",
  );
  // An answer that is not the model's is said here for the first time.
  const isSaid = last?.type === "assistant" && last.text.trim() === fact.text;
  const told = isSaid ? view : add(view, heardView(fact, { text: fact.text }));
  const { error } = fact;
  return { ...told, status: fact.status, live: nothingLive, pending: [], ...(error && { error }) };
}
