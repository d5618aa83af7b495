import type { Fact, Usage } from "capstan";
import { questionOf, usageText } from "../fact-text.ts";
import type { Timeline, TimelineBar, TimelineMark, TimelineRun, TimelineTurn } from "./timeline.ts";

type Growing<Whole> = { -readonly [Field in keyof Whole]: Whole[Field] };
type Bar = Growing<TimelineBar>;
type Turn = Growing<Omit<TimelineTurn, "bars" | "marks">> & { bars: Bar[]; marks: TimelineMark[] };
type Run = Growing<Omit<TimelineRun, "turns">> & { turns: Turn[] };
type Placed = { readonly bar: Bar; readonly turn: Turn };
type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** A run on its way: what has begun in it and has not ended. */
type OpenRun = {
  readonly run: Run;
  readonly turns: Map<number, Turn>;
  readonly calls: Map<string, Placed>;
  readonly asked: Map<string, Placed>;
  model: Placed | undefined;
  compaction: Placed | undefined;
  rest: Placed | undefined;
  /** Agents that wait for the answer of the one in charge. */
  waitingAgents: number;
};

type Builder = { readonly timeline: Timeline; readonly add: (fact: Fact) => void; length: number };

const builders = new WeakMap<readonly Fact[], Builder>();

/** The timeline of a list of facts, which may grow: each of them is looked at once. */
export function timelineOf(facts: readonly Fact[]): Timeline {
  const builder = builders.get(facts) ?? timelineBuilder();
  builders.set(facts, builder);
  for (; builder.length < facts.length; builder.length++) {
    const fact = facts[builder.length];
    if (fact) builder.add(fact);
  }
  return builder.timeline;
}

function timelineBuilder(): Builder {
  const runs: Run[] = [];
  const nested = new Map<string, Run[]>();
  const places = new Map<number, string>();
  const open = new Map<string, OpenRun>();

  function openRun(fact: Fact): OpenRun {
    const known = open.get(fact.runId);
    if (known) return known;
    const { runId, agent, seq, at, parentRunId, parentCallId } = fact;
    const parent = parentRunId === undefined ? undefined : open.get(parentRunId);
    const call = parent && parentCallId !== undefined ? callIn(parent, fact.turn, parentCallId) : undefined;
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
    const made = { run, turns: new Map(), calls: new Map(), asked: new Map(), waitingAgents: 0 };
    const fresh: OpenRun = { ...made, model: undefined, compaction: undefined, rest: undefined };
    open.set(runId, fresh);
    return fresh;
  }

  return {
    timeline: { runs, nested, places },
    length: 0,
    add(fact) {
      const own = openRun(fact);
      own.run.to = Math.max(own.run.to, fact.at);
      if (own.rest && fact.type !== "waiting") {
        end(own.rest, fact);
        own.rest = undefined;
        if (own.run.status === "waiting") own.run.status = "running";
      }
      const place = apply(own, fact) ?? own.turns.get(fact.turn) ?? own.run;
      places.set(fact.seq, place.id);
      const turn = own.turns.get(fact.turn);
      if (turn) turn.to = Math.max(turn.to, fact.at);
    },
  };
}

/** The turn of a fact. A clock that went back does not make it shorter. */
function turnOf(own: OpenRun, fact: Fact): Turn {
  const known = own.turns.get(fact.turn);
  if (known) return known;
  const { seq, at, agent, turn } = fact;
  const made: Turn = {
    id: `turn ${own.run.runId} ${turn}`,
    turn,
    agent,
    depth: own.run.depth + own.waitingAgents,
    ...{ seq, from: at, to: at },
    bars: [],
    marks: [],
  };
  own.turns.set(turn, made);
  own.run.turns.push(made);
  return made;
}

type NewBar = Pick<Bar, "kind" | "label"> & { readonly callId?: string; readonly msBefore?: number };

function begin(own: OpenRun, fact: Fact, { msBefore = 0, ...given }: NewBar): Placed {
  const turn = turnOf(own, fact);
  const from = Math.max(turn.from, fact.at - Math.max(0, msBefore));
  const { seq } = fact;
  const id = `bar ${seq} ${turn.bars.length} ${own.run.runId}`;
  const bar: Bar = {
    id,
    ...given,
    from,
    to: from,
    seq,
    lastSeq: seq,
    state: "running",
    attempts: 1,
    about: "",
  };
  turn.bars.push(bar);
  return { bar, turn };
}

function end({ bar, turn }: Placed, fact: Fact, change: Partial<Bar> = {}): Bar {
  Object.assign(bar, { state: "ok", ...change });
  bar.to = Math.max(bar.from, bar.to, fact.at);
  bar.lastSeq = fact.seq;
  turn.to = Math.max(turn.to, bar.to);
  return bar;
}

const callKey = (turn: number, id: string) => `${turn} ${id}`;

/** A call of this turn; otherwise the newest of that id. */
function callIn({ calls }: OpenRun, turn: number, id: string): Placed | undefined {
  return calls.get(callKey(turn, id)) ?? [...calls.values()].findLast((placed) => placed.bar.callId === id);
}

/** What the fact changes, and the bar that it belongs to. */
function apply(own: OpenRun, fact: Fact): Bar | undefined {
  switch (fact.type) {
    case "run_start":
      own.run.question = questionOf(fact);
      return undefined;
    case "turn_start":
      if (own.model) end(own.model, fact, { state: "interrupted" });
      own.model = begin(own, fact, { kind: "model", label: "Model" });
      return own.model.bar;
    case "message":
    case "model_failed":
      return fact.type === "model_failed" && fact.compaction !== undefined
        ? mark(own, fact, { label: `${fact.model} could not sum up: ${fact.error.message}`, isBad: true })
        : hear(own, fact);
    case "compaction_start":
      own.compaction = begin(own, fact, { kind: "model", label: "Summing up" });
      return own.compaction.bar;
    case "compacted": {
      const placed = own.compaction ?? begin(own, fact, { kind: "model", label: "Summing up" });
      own.compaction = undefined;
      return end(placed, fact, {
        about: fact.usage ? spent(fact.model, fact.usage) : "Older results shortened",
      });
    }
    case "turn_summary": {
      const placed = begin(own, fact, { kind: "model", label: "Working note", msBefore: fact.ms ?? 0 });
      const about = fact.error?.message ?? (fact.usage ? spent(fact.model, fact.usage) : "");
      return end(placed, fact, { state: fact.error ? "error" : "ok", about });
    }
    case "tool_call_start":
    case "tool_call_result":
      return applyCall(own, fact);
    case "approval_required":
    case "approval_resolved":
      return applyApproval(own, fact);
    case "waiting":
      return rest(own, fact);
    case "done":
      return finish(own, fact);
    default:
      return applyMark(own, fact);
  }
}

const spent = (model: string | undefined, usage: Usage) =>
  [model, usageText(usage)].filter(Boolean).join(" · ");

function hear(own: OpenRun, fact: FactOf<"message"> | FactOf<"model_failed">): Bar {
  const msBefore = fact.type === "message" ? fact.ms : 0;
  const placed = own.model ?? begin(own, fact, { kind: "model", label: "Model", msBefore });
  own.model = undefined;
  placed.bar.label = fact.model;
  if (fact.type === "message") {
    const state = fact.finish === "aborted" ? "interrupted" : "ok";
    const isOdd = fact.finish !== "stop" && fact.finish !== "tool_calls";
    const about = usageText(fact.usage) + (isOdd ? ` · ended with ${fact.finish}` : "");
    return end(placed, fact, { state, about });
  }
  return end(placed, fact, { state: "error", attempts: fact.attempts, about: fact.error.message });
}

function applyCall(own: OpenRun, fact: FactOf<"tool_call_start"> | FactOf<"tool_call_result">): Bar {
  const key = callKey(fact.turn, fact.id);
  const isResult = fact.type === "tool_call_result";
  const known = isResult ? callIn(own, fact.turn, fact.id) : own.calls.get(key);
  const msBefore = isResult ? fact.ms : 0;
  const placed = known ?? begin(own, fact, { kind: "tool", label: fact.name, callId: fact.id, msBefore });
  own.calls.set(known ? callKey(placed.turn.turn, fact.id) : key, placed);
  const { bar } = placed;
  if (!isResult) {
    if (known) bar.state = "running";
    bar.attempts = Math.max(bar.attempts, fact.attempt);
    return bar;
  }
  const about = fact.error?.message ?? fact.message ?? (fact.cached ? "The result of an earlier call" : "");
  return end(placed, fact, { state: fact.status, attempts: Math.max(1, bar.attempts, fact.attempts), about });
}

function applyApproval(
  own: OpenRun,
  fact: FactOf<"approval_required"> | FactOf<"approval_resolved">,
): Bar | undefined {
  const known = own.asked.get(fact.callId);
  if (fact.type === "approval_required") {
    if (known) end(known, fact, { state: "interrupted" });
    const label = fact.question ? "Question" : "Approval";
    const placed = begin(own, fact, { kind: "waiting", label, callId: fact.callId });
    placed.bar.about = `${fact.name}: ${fact.question?.message ?? fact.reason}`;
    own.asked.set(fact.callId, placed);
    return placed.bar;
  }
  own.asked.delete(fact.callId);
  return known && end(known, fact, { state: fact.approved ? "ok" : "denied" });
}

/** Who waits for a person has a bar of that; only what else a run waits for gets one here. */
function rest(own: OpenRun, fact: FactOf<"waiting">): Bar | undefined {
  own.run.status = "waiting";
  if (own.rest) return own.rest.bar;
  const others = fact.callIds.filter((callId) => !own.asked.has(callId));
  if (others.length === 0 && fact.until === undefined) return undefined;
  const label = fact.until === undefined ? "Waiting for an answer" : "Waiting for its time";
  own.rest = begin(own, fact, { kind: "waiting", label });
  return own.rest.bar;
}

function finish(own: OpenRun, fact: FactOf<"done">): undefined {
  own.run.status = fact.status;
  const begun = [own.model, own.compaction, ...own.calls.values(), ...own.asked.values()];
  for (const placed of begun)
    if (placed?.bar.state === "running") end(placed, fact, { state: "interrupted" });
  own.model = undefined;
  own.asked.clear();
  if (fact.error) mark(own, fact, { label: fact.error.message, isBad: true });
}

function mark(
  own: OpenRun,
  fact: Fact,
  { label, isBad = false }: Pick<TimelineMark, "label"> & { isBad?: boolean },
): undefined {
  const turn = turnOf(own, fact);
  turn.marks.push({ seq: fact.seq, at: Math.max(turn.from, fact.at), label, isBad });
  turn.to = Math.max(turn.to, fact.at);
}

function applyMark(own: OpenRun, fact: Fact): undefined {
  switch (fact.type) {
    case "handoff":
      if (fact.mode === "return") own.waitingAgents++;
      return mark(own, fact, { label: `${fact.from} hands over to ${fact.to}` });
    case "handoff_return":
      own.waitingAgents = Math.max(0, own.waitingAgents - 1);
      return mark(own, fact, {
        label: `${fact.from} gives back to ${fact.to}`,
        isBad: fact.error !== undefined,
      });
    case "handoff_denied":
      return mark(own, fact, { label: `No handoff to ${fact.to}: ${fact.reason}`, isBad: true });
    case "steered":
      return mark(own, fact, { label: "You said something on the way" });
    case "recovered":
      return mark(own, fact, { label: "Taken up again after a crash", isBad: true });
    case "cancel_requested":
      return mark(own, fact, { label: `Stop: ${fact.reason}` });
    case "warning":
    case "limit_reached":
    case "error":
      return mark(own, fact, { label: fact.message, isBad: true });
    default:
      return undefined;
  }
}
