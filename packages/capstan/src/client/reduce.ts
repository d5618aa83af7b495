import { type Delta, type Event, type Fact, isFact } from "../event.ts";
import { addUsage } from "../state/state.ts";
import { type CallView, type EntryView, emptyView, nothingLive, type SessionView } from "./session-view.ts";
import { type AssistantView, assistantView, entriesOf, heardView, pendingOf } from "./view-entries.ts";

/** The view after these events. */
export function buildView(events: Iterable<Event>): SessionView {
  return reduceAll(emptyView, events);
}

/**
 * One event further. Facts alone give the same view as facts and deltas, once the run rests or ends. A fact that was seen
 * before changes nothing, so a stream may begin again anywhere. Of nested runs it shows what they ask and what they cost.
 */
export function reduce(view: SessionView, event: Event): SessionView {
  return step(view, event, (entries) => [...entries]);
}

/** Many events further: as one by one, but the list of entries is copied once, not for each. */
export function reduceAll(view: SessionView, events: Iterable<Event>): SessionView {
  let own: EntryView[] | undefined;
  const writable: Writable = (entries) => {
    if (own !== entries) own = [...entries];
    return own as EntryView[];
  };
  let next = view;
  for (const event of events) next = step(next, event, writable);
  return next;
}

/** Gives entries that nobody else has seen, to be changed. */
type Writable = (entries: readonly EntryView[]) => EntryView[];

function step(view: SessionView, event: Event, writable: Writable): SessionView {
  const isNested = event.parentRunId !== undefined;
  // A newer server may say what is not known here.
  if (!isFact(event)) return isNested ? view : (hearDelta(view, event) ?? view);
  if (event.seq <= view.seq) return view;
  return { ...(isNested ? applyNested(view, event) : applyFact(view, event, writable)), seq: event.seq };
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
      // To one who has come back, all that is live is said again.
      if (event.reason === "reconnected") return { ...view, live: nothingLive };
      return { ...view, live: { ...live, text: "", reasoning: "", citations: [], calls: [] } };
    case "retry":
      return {
        ...view,
        live: { ...live, retry: { attempt: event.attempt, code: event.code, waitMs: event.waitMs } },
      };
  }
}

function applyFact(view: SessionView, fact: Fact, writable: Writable): SessionView {
  if (fact.type === "run_start") return startRun(view, fact, writable);
  const add = (to: SessionView, entry: EntryView) => added(to, entry, writable);
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
    case "recovered":
      return { ...awake, live: nothingLive };
    case "compacted":
      return {
        ...add(awake, { type: "notice", runId, code: "compacted", message: fact.text ?? "" }),
        ...(fact.usage && { usage: addUsage(view.usage, fact.usage) }),
      };
    case "tool_call_start":
      return startCall(awake, fact, writable);
    case "tool_call_result":
      return settleCall(awake, fact, writable);
    case "approval_required": {
      const asking = withCall(awake, { id: fact.callId, state: "asking" }, writable);
      return { ...asking, pending: [...without(awake, fact.callId), pendingOf(fact)] };
    }
    case "approval_resolved":
      return {
        ...withCall(awake, { id: fact.callId, state: "said" }, writable),
        pending: without(awake, fact.callId),
      };
    case "waiting":
      return rest(view, fact.callIds);
    case "steered":
      return add(awake, { type: "user", runId, content: fact.entry.content });
    case "turn_summary":
      return summarise(awake, fact, writable);
    case "warning":
    case "limit_reached":
      return add(awake, { type: "notice", runId, code: fact.code, message: fact.message });
    case "done":
      return end(view, fact, writable);
    default:
      return awake;
  }
}

function startRun(
  view: SessionView,
  fact: Extract<Fact, { type: "run_start" }>,
  writable: Writable,
): SessionView {
  const { error: _, ...rest } = view;
  const said = entriesOf(fact);
  // A client that keeps the history itself sends all of it each time.
  const entries = fact.policy.memory === "client" ? said : writable(view.entries);
  if (entries !== said) entries.push(...said);
  const { runId } = fact;
  return { ...rest, status: "running", runId, turn: 0, entries, live: nothingLive, pending: [] };
}

function added(view: SessionView, entry: EntryView, writable: Writable): SessionView {
  const entries = writable(view.entries);
  entries.push(entry);
  return { ...view, entries };
}

function without({ pending }: SessionView, callId: string): SessionView["pending"] {
  return pending.filter((waiting) => waiting.callId !== callId);
}

/** The place of the last entry of this kind that the newest run has said; no further back is looked. */
function lastHeard({ entries, runId }: SessionView, isIt: (entry: AssistantView) => boolean): number {
  for (let at = entries.length - 1; entries[at]?.runId === runId; at--) {
    const entry = entries[at];
    if (entry?.type === "assistant" && isIt(entry)) return at;
  }
  return -1;
}

/** The view with a change to the newest call of this id. */
function withCall(
  view: SessionView,
  change: Partial<CallView> & Pick<CallView, "id">,
  writable: Writable,
): SessionView {
  const at = lastHeard(view, (entry) => entry.calls.some(({ id }) => id === change.id));
  const entry = view.entries[at];
  if (entry?.type !== "assistant") return view;
  const calls = entry.calls.map((call) => (call.id === change.id ? { ...call, ...change } : call));
  const entries = writable(view.entries);
  entries[at] = { ...entry, calls };
  return { ...view, entries };
}

function startCall(
  view: SessionView,
  fact: Extract<Fact, { type: "tool_call_start" }>,
  writable: Writable,
): SessionView {
  const started = withCall(view, { id: fact.id, state: "running" }, writable);
  if (started !== view) return started;
  // Not asked for by the model: the fallback tool of a limit.
  const call: CallView = { id: fact.id, name: fact.name, input: fact.arguments, state: "running" };
  return added(view, heardView(fact, { calls: [call] }), writable);
}

function settleCall(
  view: SessionView,
  fact: Extract<Fact, { type: "tool_call_result" }>,
  writable: Writable,
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
  const settled = withCall(view, change, writable);
  const progress = view.live.progress.filter(({ callId }) => callId !== id);
  return { ...settled, live: { ...view.live, progress }, pending: without(view, id) };
}

/** What a run waits for and nobody was asked to approve is with the client. */
function rest(view: SessionView, callIds: readonly string[]): SessionView {
  const withClient = callIds
    .filter(
      (callId) => !view.pending.some((asked) => asked.callId === callId || asked.parentCallId === callId),
    )
    .map((callId) => {
      return { callId, name: callNamed(view, callId)?.name ?? "", needs: "answer" as const };
    });
  return { ...view, status: "waiting", live: nothingLive, pending: [...view.pending, ...withClient] };
}

/** The newest call of this id. */
function callNamed(view: SessionView, callId: string): CallView | undefined {
  const isIt = ({ id }: CallView) => id === callId;
  const entry = view.entries[lastHeard(view, ({ calls }) => calls.some(isIt))];
  return entry?.type === "assistant" ? entry.calls.findLast(isIt) : undefined;
}

function summarise(
  view: SessionView,
  fact: Extract<Fact, { type: "turn_summary" }>,
  writable: Writable,
): SessionView {
  const { turn, text, usage } = fact;
  const at = lastHeard(view, (entry) => entry.turn === turn);
  const entry = view.entries[at];
  const entries = entry && text ? writable(view.entries) : view.entries;
  if (entry && text) (entries as EntryView[])[at] = { ...entry, summary: text } as EntryView;
  const live = { ...view.live, summary: "" };
  return { ...view, entries, live, ...(usage && { usage: addUsage(view.usage, usage) }) };
}

function end(view: SessionView, fact: Extract<Fact, { type: "done" }>, writable: Writable): SessionView {
  const last = view.entries[lastHeard(view, (entry) => entry.text.trim() !== "")];
  // An answer that is not the model's is said here for the first time.
  const isSaid = last?.type === "assistant" && last.text.trim() === fact.text;
  const told = isSaid ? view : added(view, heardView(fact, { text: fact.text }), writable);
  const { error } = fact;
  return { ...told, status: fact.status, live: nothingLive, pending: [], ...(error && { error }) };
}
