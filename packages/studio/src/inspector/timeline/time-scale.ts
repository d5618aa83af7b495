import type { Timeline, TimelineBar, TimelineRun } from "./timeline.ts";

/** Where a moment lies between the beginning (0) and the end (1) of what is shown. */
export type TimeScale = (at: number) => number;

/** At least so much of the width stays for work, however long somebody was waited for. */
const waitingShare = 0.3;

/**
 * A scale over a run. A night of waiting for a person must not make everything else too small to see: the times in which
 * nothing but waiting went on are drawn shorter when they would take more than their share.
 */
export function runScale(timeline: Timeline, run: TimelineRun, now: number): TimeScale {
  const end = Math.max(run.to, run.status === "running" ? now : run.to);
  const bars = barsOf(timeline, run);
  const idle = idleTimes(bars, end);
  const idleMs = idle.reduce((sum, [from, to]) => sum + (to - from), 0);
  const workMs = Math.max(1, end - run.from - idleMs);
  const most = (workMs * waitingShare) / (1 - waitingShare);
  const factor = idleMs > most ? most / idleMs : 1;
  const length = workMs + idleMs * factor;
  return (at) => {
    const moment = Math.min(Math.max(at, run.from), end);
    let shown = moment - run.from;
    for (const [from, to] of idle) shown -= Math.max(0, Math.min(moment, to) - from) * (1 - factor);
    return Math.min(1, Math.max(0, shown / length));
  };
}

/** A scale without gaps. */
export function plainScale(from: number, to: number): TimeScale {
  const length = Math.max(1, to - from);
  return (at) => Math.min(1, Math.max(0, (at - from) / length));
}

/** Of a call of an agent what went on inside it, in place of the call. */
function barsOf(timeline: Timeline, run: TimelineRun): TimelineBar[] {
  return run.turns.flatMap(({ bars }) =>
    bars.flatMap(
      (bar) => timeline.nested.get(bar.id)?.flatMap((inside) => barsOf(timeline, inside)) ?? [bar],
    ),
  );
}

type Span = readonly [from: number, to: number];

/** When something waited and nothing worked. A call that waits for an answer of its own does not work. */
function idleTimes(bars: readonly TimelineBar[], end: number): Span[] {
  const spanOf = ({ from, to, state }: TimelineBar): Span => [from, state === "running" ? end : to];
  const waits = joined(bars.filter(({ kind }) => kind === "waiting").map(spanOf));
  const asked = new Set(bars.flatMap(({ kind, callId }) => (kind === "waiting" && callId ? [callId] : [])));
  const isWork = ({ kind, callId }: TimelineBar) =>
    kind === "model" || (kind === "tool" && !(callId && asked.has(callId)));
  const work = joined(bars.filter(isWork).map(spanOf));
  return waits.flatMap((wait) => without(wait, work));
}

/** Spans that do not overlap, in order. */
function joined(spans: readonly Span[]): Span[] {
  const whole: Span[] = [];
  for (const [from, to] of spans.toSorted((one, other) => one[0] - other[0])) {
    const last = whole.at(-1);
    if (last && from <= last[1]) whole[whole.length - 1] = [last[0], Math.max(last[1], to)];
    else whole.push([from, to]);
  }
  return whole;
}

function without([from, to]: Span, taken: readonly Span[]): Span[] {
  const left: Span[] = [];
  let start = from;
  for (const [begin, finish] of taken) {
    if (finish <= start || begin >= to) continue;
    if (begin > start) left.push([start, begin]);
    start = Math.max(start, finish);
  }
  if (start < to) left.push([start, to]);
  return left;
}
