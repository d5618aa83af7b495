import { type Fact, getStopReason, type Usage } from "capstan";
import { formatCount } from "capstan/sessions";
import { formatTokenUsage, getQuestion } from "../format-facts.ts";
import { formatSettings } from "../format-settings.ts";
import type { Timeline, TimelineBar, TimelineMark, TimelineRun, TimelineTurn } from "./timeline.ts";

type Mutable<Whole> = { -readonly [Field in keyof Whole]: Whole[Field] };
type Bar = Mutable<TimelineBar>;
type Turn = Mutable<Omit<TimelineTurn, "bars" | "marks">> & { bars: Bar[]; marks: TimelineMark[] };
type Run = Mutable<Omit<TimelineRun, "turns">> & { turns: Turn[] };
type BarLocation = { readonly bar: Bar; readonly turn: Turn };
type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** State of a run while its timeline is built. */
type OpenRun = {
  readonly run: Run;
  readonly turns: Map<number, Turn>;
  readonly calls: Map<string, BarLocation>;
  readonly approvals: Map<string, BarLocation>;
  model: BarLocation | undefined;
  compaction: BarLocation | undefined;
  wait: BarLocation | undefined;
  /** Agents that wait for a handoff to return. */
  waitingAgents: number;
};

type Builder = { readonly timeline: Timeline; readonly add: (fact: Fact) => void; length: number };

const builders = new WeakMap<readonly Fact[], Builder>();

/** Builds the timeline of an append-only list of facts. Each fact is processed once. */
export function buildTimeline(facts: readonly Fact[]): Timeline {
  const builder = builders.get(facts) ?? createTimelineBuilder();
  builders.set(facts, builder);
  for (; builder.length < facts.length; builder.length++) {
    const fact = facts[builder.length];
    if (fact) builder.add(fact);
  }
  return builder.timeline;
}

function createTimelineBuilder(): Builder {
  const runs: Run[] = [];
  const nested = new Map<string, Run[]>();
  const locations = new Map<number, string>();
  const open = new Map<string, OpenRun>();

  function openRun(fact: Fact): OpenRun {
    const existing = open.get(fact.runId);
    if (existing) return existing;
    const { runId, agent, seq, at, parentRunId, parentCallId } = fact;
    const parent = parentRunId === undefined ? undefined : open.get(parentRunId);
    const call =
      parent && parentCallId !== undefined ? findCallBar(parent, fact.turn, parentCallId) : undefined;
    const depth = call ? call.turn.depth + 1 : 0;
    const times = { seq, from: at, to: at };
    const run: Run = {
      id: `run ${runId}`,
      runId,
      agent,
      depth,
      ...times,
      status: "running",
      question: "",
      turns: [],
    };
    if (call) nested.set(call.bar.id, [...(nested.get(call.bar.id) ?? []), run]);
    else runs.push(run);
    const created = { run, turns: new Map(), calls: new Map(), approvals: new Map(), waitingAgents: 0 };
    const opened: OpenRun = { ...created, model: undefined, compaction: undefined, wait: undefined };
    open.set(runId, opened);
    return opened;
  }

  return {
    timeline: { runs, nested, locations },
    length: 0,
    add(fact) {
      const own = openRun(fact);
      own.run.to = Math.max(own.run.to, fact.at);
      if (own.wait && fact.type !== "waiting") {
        endBar(own.wait, fact);
        own.wait = undefined;
        if (own.run.status === "waiting") own.run.status = "running";
      }
      const place = applyToRun(own, fact) ?? own.turns.get(fact.turn) ?? own.run;
      locations.set(fact.seq, place.id);
      const turn = own.turns.get(fact.turn);
      if (turn) turn.to = Math.max(turn.to, fact.at);
    },
  };
}

/** Returns the turn of a fact, created if needed. A clock that moved back does not shorten it. */
function ensureTurn(own: OpenRun, fact: Fact): Turn {
  const existing = own.turns.get(fact.turn);
  if (existing) return existing;
  const { seq, at, agent, turn } = fact;
  const created: Turn = {
    id: `turn ${own.run.runId} ${turn}`,
    turn,
    agent,
    depth: own.run.depth + own.waitingAgents,
    ...{ seq, from: at, to: at },
    bars: [],
    marks: [],
  };
  own.turns.set(turn, created);
  own.run.turns.push(created);
  return created;
}

type NewBar = Pick<Bar, "kind" | "label"> & { readonly callId?: string; readonly msBefore?: number };

function startBar(own: OpenRun, fact: Fact, { msBefore = 0, ...fields }: NewBar): BarLocation {
  const turn = ensureTurn(own, fact);
  const from = Math.max(turn.from, fact.at - Math.max(0, msBefore));
  const { seq } = fact;
  const id = `bar ${seq} ${turn.bars.length} ${own.run.runId}`;
  const bar: Bar = {
    id,
    ...fields,
    from,
    to: from,
    seq,
    lastSeq: seq,
    state: "running",
    attempts: 1,
    detail: "",
  };
  turn.bars.push(bar);
  return { bar, turn };
}

function endBar({ bar, turn }: BarLocation, fact: Fact, change: Partial<Bar> = {}): Bar {
  Object.assign(bar, { state: "ok", ...change });
  bar.to = Math.max(bar.from, bar.to, fact.at);
  bar.lastSeq = fact.seq;
  turn.to = Math.max(turn.to, bar.to);
  return bar;
}

const getCallKey = (turn: number, id: string) => `${turn} ${id}`;

/** Finds the call of this turn, or the newest one with that id. */
function findCallBar({ calls }: OpenRun, turn: number, id: string): BarLocation | undefined {
  return (
    calls.get(getCallKey(turn, id)) ?? [...calls.values()].findLast((location) => location.bar.callId === id)
  );
}

/** Applies a fact and returns the bar that it belongs to. */
function applyToRun(own: OpenRun, fact: Fact): Bar | undefined {
  switch (fact.type) {
    case "run_start":
      own.run.question = getQuestion(fact);
      return undefined;
    case "turn_start":
      if (own.model) endBar(own.model, fact, { state: "interrupted" });
      own.model = startBar(own, fact, { kind: "model", label: "Model" });
      return own.model.bar;
    case "message":
    case "message_partial":
    case "model_failed":
      return fact.type === "model_failed" && fact.compaction !== undefined
        ? addMark(own, fact, {
            label: `${fact.model} failed to summarize: ${fact.error.message}`,
            isBad: true,
          })
        : applyModelResult(own, fact);
    case "compaction_start":
      own.compaction = startBar(own, fact, { kind: "model", label: "Compaction" });
      return own.compaction.bar;
    case "compacted": {
      const location = own.compaction ?? startBar(own, fact, { kind: "model", label: "Compaction" });
      own.compaction = undefined;
      return endBar(location, fact, {
        detail: fact.usage ? formatModelUsage(fact.model, fact.usage) : "Older results truncated",
      });
    }
    case "turn_summary": {
      const location = startBar(own, fact, { kind: "model", label: "Turn summary", msBefore: fact.ms ?? 0 });
      const detail = fact.error?.message ?? (fact.usage ? formatModelUsage(fact.model, fact.usage) : "");
      return endBar(location, fact, { state: fact.error ? "error" : "ok", detail });
    }
    case "tool_call_start":
    case "tool_call_result":
      return applyCall(own, fact);
    case "approval_required":
    case "approval_resolved":
      return applyApproval(own, fact);
    case "waiting":
      return applyWaiting(own, fact);
    case "done":
      return applyRunEnd(own, fact);
    default:
      return applyMarkFact(own, fact);
  }
}

const formatModelUsage = (model: string | undefined, usage: Usage) =>
  [model, formatTokenUsage(usage)].filter(Boolean).join(" · ");

function applyModelResult(own: OpenRun, fact: FactOf<"message" | "message_partial" | "model_failed">): Bar {
  const msBefore = fact.type === "model_failed" ? 0 : fact.ms;
  const location = own.model ?? startBar(own, fact, { kind: "model", label: "Model", msBefore });
  own.model = undefined;
  location.bar.label = fact.model;
  if (fact.type !== "model_failed") {
    const stopReason = getStopReason(fact);
    const state = stopReason === "aborted" ? "interrupted" : "ok";
    const isUnusual = stopReason !== "end" && stopReason !== "tool_calls";
    const detail = [
      formatTokenUsage(fact.usage),
      ...(isUnusual ? [`stop reason ${stopReason}`] : []),
      ...(fact.type === "message" && fact.settings ? [formatSettings(fact.settings)] : []),
    ].join(" · ");
    return endBar(location, fact, { state, detail });
  }
  const discarded = fact.discarded ? ` · ${formatCount(fact.discarded, "character")} discarded` : "";
  const detail = fact.error.message + discarded;
  return endBar(location, fact, { state: "error", attempts: fact.attempts, detail });
}

function applyCall(own: OpenRun, fact: FactOf<"tool_call_start"> | FactOf<"tool_call_result">): Bar {
  const key = getCallKey(fact.turn, fact.id);
  const isResult = fact.type === "tool_call_result";
  const existing = isResult ? findCallBar(own, fact.turn, fact.id) : own.calls.get(key);
  const msBefore = isResult ? fact.ms : 0;
  const location =
    existing ?? startBar(own, fact, { kind: "tool", label: fact.name, callId: fact.id, msBefore });
  own.calls.set(existing ? getCallKey(location.turn.turn, fact.id) : key, location);
  const { bar } = location;
  if (!isResult) {
    if (existing) bar.state = "running";
    bar.attempts = Math.max(bar.attempts, fact.attempt);
    return bar;
  }
  const detail = fact.error?.message ?? fact.message ?? (fact.cached ? "Cached result" : "");
  return endBar(location, fact, {
    state: fact.status,
    attempts: Math.max(1, bar.attempts, fact.attempts),
    detail,
  });
}

function applyApproval(
  own: OpenRun,
  fact: FactOf<"approval_required"> | FactOf<"approval_resolved">,
): Bar | undefined {
  const existing = own.approvals.get(fact.callId);
  if (fact.type === "approval_required") {
    if (existing) endBar(existing, fact, { state: "interrupted" });
    const label = fact.question ? "Question" : "Approval";
    const location = startBar(own, fact, { kind: "waiting", label, callId: fact.callId });
    location.bar.detail = `${fact.name}: ${fact.question?.message ?? fact.reason}`;
    own.approvals.set(fact.callId, location);
    return location.bar;
  }
  own.approvals.delete(fact.callId);
  return existing && endBar(existing, fact, { state: fact.approved ? "ok" : "denied" });
}

/** Pending approvals have their own bars; only other waits get one here. */
function applyWaiting(own: OpenRun, fact: FactOf<"waiting">): Bar | undefined {
  own.run.status = "waiting";
  if (own.wait) return own.wait.bar;
  const otherCallIds = fact.callIds.filter((callId) => !own.approvals.has(callId));
  if (otherCallIds.length === 0 && fact.until === undefined) return undefined;
  const label = fact.until === undefined ? "Waiting for an answer" : "Waiting for the model provider";
  own.wait = startBar(own, fact, { kind: "waiting", label });
  return own.wait.bar;
}

function applyRunEnd(own: OpenRun, fact: FactOf<"done">): undefined {
  own.run.status = fact.status;
  const openBars = [own.model, own.compaction, ...own.calls.values(), ...own.approvals.values()];
  for (const location of openBars)
    if (location?.bar.state === "running") endBar(location, fact, { state: "interrupted" });
  own.model = undefined;
  own.approvals.clear();
  if (fact.error) addMark(own, fact, { label: fact.error.message, isBad: true });
}

function addMark(
  own: OpenRun,
  fact: Fact,
  { label, isBad = false }: Pick<TimelineMark, "label"> & { isBad?: boolean },
): undefined {
  const turn = ensureTurn(own, fact);
  turn.marks.push({ seq: fact.seq, at: Math.max(turn.from, fact.at), label, isBad });
  turn.to = Math.max(turn.to, fact.at);
}

function applyMarkFact(own: OpenRun, fact: Fact): undefined {
  switch (fact.type) {
    case "handoff":
      if (fact.mode === "return") own.waitingAgents++;
      return addMark(own, fact, { label: `${fact.from} handed off to ${fact.to}` });
    case "handoff_return":
      own.waitingAgents = Math.max(0, own.waitingAgents - 1);
      return addMark(own, fact, {
        label: `${fact.from} returned to ${fact.to}`,
        isBad: fact.error !== undefined,
      });
    case "handoff_denied":
      return addMark(own, fact, { label: `Handoff to ${fact.to} denied: ${fact.reason}`, isBad: true });
    case "steered":
      return addMark(own, fact, { label: "Steering message" });
    case "recovered":
      return addMark(own, fact, {
        label: fact.alone ? "Resumed alone after repeated crashes" : "Resumed after a crash",
        isBad: true,
      });
    case "retried":
      own.run.status = "running";
      return addMark(own, fact, { label: "Retried" });
    case "cancel_requested":
      return addMark(own, fact, { label: `Cancelled: ${fact.reason}` });
    case "warning":
    case "limit_reached":
    case "error":
      return addMark(own, fact, { label: fact.message, isBad: true });
    default:
      return undefined;
  }
}
