import { type Delta, type Event, type Fact, isFact } from "../kernel/event.ts";
import {
  type CallView,
  type EntryView,
  emptyView,
  nothingLive,
  type SessionView,
  withUsage,
} from "./session-view.ts";
import {
  type AssistantView,
  buildInputEntries,
  createAssistantView,
  formatAnswer,
  readAssistantEntry,
  toAssistantView,
  toDecidedCall,
  toDiscardNotice,
  toPendingView,
  toUserView,
} from "./view-entries.ts";
import { createOwner, indexFact, type Own } from "./view-index.ts";

/** Builds the view after these events. */
export function buildView(events: Iterable<Event>): SessionView {
  return reduceAll(emptyView, events);
}

/**
 * Applies one event. Facts alone give the same view as facts and deltas once the run waits or ends. A fact that was
 * already applied changes nothing, so a stream may restart anywhere.
 */
export function reduce(view: SessionView, event: Event): SessionView {
  return applyEvent(view, event, createOwner());
}

/** Applies many events with the same result as `reduce`, but copies each collection only once. */
export function reduceAll(view: SessionView, events: Iterable<Event>): SessionView {
  const own = createOwner();
  let next = view;
  for (const event of events) next = applyEvent(next, event, own);
  return next;
}

function applyEvent(view: SessionView, event: Event, own: Own): SessionView {
  const isNested = event.parentRunId !== undefined;
  if (!isFact(event)) {
    // A newer server may send unknown events.
    if (!isNested) return applyDelta(view, event) ?? view;
    const nested = applyToNested(view.nested, event, own);
    return nested === view.nested ? view : { ...view, nested };
  }
  if (event.seq <= view.seq) return view;
  const next = isNested ? applyNestedFact(view, event, own) : applyFact(view, event, own);
  return { ...next, ...indexFact(view, event, own) };
}

function applyNestedFact(outer: SessionView, fact: Fact, own: Own): SessionView {
  const view = { ...outer, nested: applyToNested(outer.nested, fact, own) };
  switch (fact.type) {
    case "approval_required":
      return { ...view, pending: [...removePending(view, fact.callId), toPendingView(fact)] };
    case "approval_resolved":
      return { ...view, pending: removePending(view, fact.callId) };
    case "tool_call_result":
      return { ...view, pending: removePending(view, fact.id) };
    case "message":
    case "message_partial":
    case "model_failed":
    case "compacted":
    case "turn_summary":
      return withUsage(view, fact);
    default:
      return view;
  }
}

/** Applies the event to the view of its nested run, as if it were a separate session. */
function applyToNested(nested: SessionView["nested"], event: Event, own: Own): SessionView["nested"] {
  const { parentRunId: _, parentCallId, ...inner } = event;
  if (parentCallId === undefined) return nested;
  const earlier = nested.get(parentCallId) ?? emptyView;
  const next = applyEvent(earlier, inner as Event, own);
  return next === earlier ? nested : own(nested).set(parentCallId, next);
}

function applyDelta(view: SessionView, event: Delta): SessionView {
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
      // After a reconnect, all live deltas are sent again.
      if (event.reason === "reconnected")
        return { ...view, live: { ...nothingLive, ...live.partial, partial: live.partial } };
      return applyRestart(view, event);
    case "retry": {
      const { attempt, code, message, waitMs, at } = event;
      return { ...view, live: { ...live, retry: { attempt, code, message, waitMs, at } } };
    }
  }
}

/** The message is generated again, so the text so far is replaced. */
function applyRestart(
  view: SessionView,
  { reason, model, discarded }: Extract<Delta, { type: "message_restart" }>,
): SessionView {
  const { retry: _, ...live } = view.live;
  const cut = {
    reason,
    ...(model !== undefined && { model }),
    ...(discarded !== undefined && { discarded }),
  };
  return {
    ...view,
    live: { ...live, text: "", reasoning: "", citations: [], calls: [], discarded: cut },
  };
}

function applyFact(view: SessionView, fact: Fact, own: Own): SessionView {
  if (fact.type === "run_start") return applyRunStart(view, fact, own);
  const add = (to: SessionView, entry: EntryView) => addEntry(to, entry, own);
  if (fact.runId !== view.runId) return view;
  const { runId, seq } = fact;
  const running: SessionView = view.status === "waiting" ? { ...view, status: "running" } : view;
  switch (fact.type) {
    case "turn_start":
      return { ...running, turn: fact.turn, live: nothingLive };
    case "message":
      return { ...withUsage(add(running, toAssistantView(fact)), fact), live: nothingLive };
    case "message_partial": {
      // Later deltas append to this message, including for readers that missed its earlier deltas.
      const { text, reasoning } = readAssistantEntry(fact.entry, []);
      const partial = { text, reasoning, citations: fact.citations ?? [] };
      return { ...withUsage(running, fact), live: { ...nothingLive, ...partial, partial } };
    }
    case "model_failed":
      return {
        ...withUsage(fact.discarded ? add(running, toDiscardNotice(fact)) : running, fact),
        live: nothingLive,
      };
    case "recovered":
      return { ...running, live: nothingLive };
    case "compacted":
      return withUsage(
        add(running, { type: "notice", runId, seq, code: "compacted", message: fact.text ?? "" }),
        fact,
      );
    case "tool_call_start":
      return applyCallStart(running, fact, own);
    case "tool_call_result":
      return applyCallResult(running, fact, own);
    case "approval_required": {
      const approving = updateCall(running, { id: fact.callId, state: "asking" }, own);
      return { ...approving, pending: [...removePending(running, fact.callId), toPendingView(fact)] };
    }
    case "approval_resolved": {
      const decided = updateCall(running, toDecidedCall(fact), own);
      return { ...decided, pending: removePending(running, fact.callId) };
    }
    case "retried":
      return applyRetried(view, fact, own);
    case "waiting":
      return applyWaiting(view, fact.callIds);
    case "steered":
      return add(running, toUserView(fact, fact.entry));
    case "turn_summary":
      return applyTurnSummary(running, fact, own);
    case "warning":
    case "limit_reached":
      return add(running, { type: "notice", runId, seq, code: fact.code, message: fact.message });
    case "done":
      return applyDone(view, fact, own);
    default:
      return running;
  }
}

function applyRunStart(view: SessionView, fact: Extract<Fact, { type: "run_start" }>, own: Own): SessionView {
  const { error: _, ...rest } = view;
  const said = buildInputEntries(fact);
  // A client that keeps the history sends it complete with each run.
  const entries = fact.policy.memory === "client" ? said : own(view.entries);
  if (entries !== said) entries.push(...said);
  const { runId } = fact;
  return { ...rest, status: "running", runId, turn: 0, entries, live: nothingLive, pending: [] };
}

/** Replaces the text of the failed end by a notice: the run will end with another one. */
function applyRetried(view: SessionView, { runId, seq }: Fact, own: Own): SessionView {
  const { error, ...reopened } = view;
  const end = view.runs.get(runId)?.end;
  const entries = own(view.entries);
  if (entries.at(-1)?.seq === end?.seq) entries.pop();
  const message = `Retried after a failure: ${error?.message ?? end?.text ?? ""}`;
  entries.push({ type: "notice", runId, seq, code: "retried", message });
  return { ...reopened, entries, status: "running" };
}

function addEntry(view: SessionView, entry: EntryView, own: Own): SessionView {
  const entries = own(view.entries);
  entries.push(entry);
  return { ...view, entries };
}

function removePending({ pending }: SessionView, callId: string): SessionView["pending"] {
  return pending.filter((waiting) => waiting.callId !== callId);
}

/** Returns the index of the last matching assistant entry of the newest run, or -1. */
function findLastAssistant(
  { entries, runId }: SessionView,
  predicate: (entry: AssistantView) => boolean,
): number {
  for (let at = entries.length - 1; entries[at]?.runId === runId; at--) {
    const entry = entries[at];
    if (entry?.type === "assistant" && predicate(entry)) return at;
  }
  return -1;
}

/** Applies a change to the newest call with this id. */
function updateCall(
  view: SessionView,
  change: Partial<CallView> & Pick<CallView, "id">,
  own: Own,
): SessionView {
  const at = findLastAssistant(view, (entry) => entry.calls.some(({ id }) => id === change.id));
  const entry = view.entries[at];
  if (entry?.type !== "assistant") return view;
  const calls = entry.calls.map((call) => (call.id === change.id ? { ...call, ...change } : call));
  const entries = own(view.entries);
  entries[at] = { ...entry, calls };
  return { ...view, entries };
}

function applyCallStart(
  view: SessionView,
  fact: Extract<Fact, { type: "tool_call_start" }>,
  own: Own,
): SessionView {
  const started = updateCall(view, { id: fact.id, state: "running", seq: fact.seq }, own);
  if (started !== view) return started;
  const { id, name, arguments: input, seq, hosted } = fact;
  const call: CallView = { id, name, input, state: "running", seq, ...(hosted && { hosted }) };
  // The message of a hosted call comes first.
  const at = hosted ? findLastAssistant(view, ({ turn }) => turn === fact.turn) : -1;
  const entry = view.entries[at];
  // Not requested by the model: the fallback tool of a limit, or a call in an unfinished message.
  if (entry?.type !== "assistant") return addEntry(view, createAssistantView(fact, { calls: [call] }), own);
  const entries = own(view.entries);
  entries[at] = { ...entry, calls: [...entry.calls, call] };
  return { ...view, entries };
}

function applyCallResult(
  view: SessionView,
  fact: Extract<Fact, { type: "tool_call_result" }>,
  own: Own,
): SessionView {
  const { id, status, result, data, message, ui, error, ms } = fact;
  const change = {
    id,
    state: status,
    result,
    ms,
    ...(data !== undefined && { data }),
    ...(message !== undefined && { message }),
    ...(ui && { ui }),
    ...(error && { error }),
  };
  const settled = updateCall(view, change, own);
  const progress = view.live.progress.filter(({ callId }) => callId !== id);
  return { ...settled, live: { ...view.live, progress }, pending: removePending(view, id) };
}

/** Calls that the run waits for and that need no approval are answered by the client. */
/** A run that waits for no call is paused: in a copy, open calls are refused. */
function applyWaiting(view: SessionView, callIds: readonly string[]): SessionView {
  const asked = callIds.length === 0 ? [] : view.pending;
  const clientCalls = callIds
    .filter(
      (callId) => !asked.some((pending) => pending.callId === callId || pending.parentCallId === callId),
    )
    .map((callId) => {
      return { callId, name: findCallView(view, callId)?.name ?? "", needs: "answer" as const };
    });
  return { ...view, status: "waiting", live: nothingLive, pending: [...asked, ...clientCalls] };
}

/** Finds the newest call with this id. */
function findCallView(view: SessionView, callId: string): CallView | undefined {
  const isIt = ({ id }: CallView) => id === callId;
  const entry = view.entries[findLastAssistant(view, ({ calls }) => calls.some(isIt))];
  return entry?.type === "assistant" ? entry.calls.findLast(isIt) : undefined;
}

function applyTurnSummary(
  view: SessionView,
  fact: Extract<Fact, { type: "turn_summary" }>,
  own: Own,
): SessionView {
  const { turn, text } = fact;
  const at = findLastAssistant(view, (entry) => entry.turn === turn);
  const entry = view.entries[at];
  const entries = entry && text ? own(view.entries) : view.entries;
  if (entry && text) (entries as EntryView[])[at] = { ...entry, summary: text } as EntryView;
  return { ...withUsage(view, fact), entries, live: { ...view.live, summary: "" } };
}

function applyDone(view: SessionView, fact: Extract<Fact, { type: "done" }>, own: Own): SessionView {
  const last = view.entries[findLastAssistant(view, (entry) => formatAnswer(entry) !== "")];
  // An answer that no model wrote appears here for the first time.
  const isSaid = last?.type === "assistant" && formatAnswer(last) === fact.text;
  const answered = isSaid ? view : addEntry(view, createAssistantView(fact, { text: fact.text }), own);
  const { error } = fact;
  return { ...answered, status: fact.status, live: nothingLive, pending: [], ...(error && { error }) };
}
