import type { Timeline, TimelineBar, TimelineRun } from "./timeline.ts";

/** Maps a time to a position between 0 (start) and 1 (end). */
export type TimeScale = (at: number) => number;

/** Maximum share of the width that waiting may take. */
const maxWaitingShare = 0.3;

/**
 * Creates a scale for a run. Idle times are shortened when they would take more than their share, so that a long wait
 * does not make everything else too small to see.
 */
export function createRunScale(timeline: Timeline, run: TimelineRun, now: number): TimeScale {
  const end = Math.max(run.to, run.status === "running" ? now : run.to);
  const bars = getLeafBars(timeline, run);
  const idle = findIdleSpans(bars, end);
  const idleMs = idle.reduce((sum, [from, to]) => sum + (to - from), 0);
  const workMs = Math.max(1, end - run.from - idleMs);
  const maxIdleMs = (workMs * maxWaitingShare) / (1 - maxWaitingShare);
  const factor = idleMs > maxIdleMs ? maxIdleMs / idleMs : 1;
  const length = workMs + idleMs * factor;
  return (at) => {
    const moment = Math.min(Math.max(at, run.from), end);
    let shown = moment - run.from;
    for (const [from, to] of idle) shown -= Math.max(0, Math.min(moment, to) - from) * (1 - factor);
    return Math.min(1, Math.max(0, shown / length));
  };
}

export function createLinearScale(from: number, to: number): TimeScale {
  const length = Math.max(1, to - from);
  return (at) => Math.min(1, Math.max(0, (at - from) / length));
}

/** Returns all bars, with the bars of a nested run in place of its call. */
function getLeafBars(timeline: Timeline, run: TimelineRun): TimelineBar[] {
  return run.turns.flatMap(({ bars }) =>
    bars.flatMap(
      (bar) => timeline.nested.get(bar.id)?.flatMap((nestedRun) => getLeafBars(timeline, nestedRun)) ?? [bar],
    ),
  );
}

type Span = readonly [from: number, to: number];

/** Finds the times in which the run only waited. A call that waits for its own approval does not count as work. */
function findIdleSpans(bars: readonly TimelineBar[], end: number): Span[] {
  const toSpan = ({ from, to, state }: TimelineBar): Span => [from, state === "running" ? end : to];
  const waits = mergeSpans(bars.filter(({ kind }) => kind === "waiting").map(toSpan));
  const approvalCallIds = new Set(
    bars.flatMap(({ kind, callId }) => (kind === "waiting" && callId ? [callId] : [])),
  );
  const isWork = ({ kind, callId }: TimelineBar) =>
    kind === "model" || (kind === "tool" && !(callId && approvalCallIds.has(callId)));
  const work = mergeSpans(bars.filter(isWork).map(toSpan));
  return waits.flatMap((wait) => subtractSpans(wait, work));
}

/** Merges overlapping spans. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const [from, to] of spans.toSorted((first, second) => first[0] - second[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], to)];
    else merged.push([from, to]);
  }
  return merged;
}

function subtractSpans([from, to]: Span, busySpans: readonly Span[]): Span[] {
  const remaining: Span[] = [];
  let start = from;
  for (const [begin, finish] of busySpans) {
    if (finish <= start || begin >= to) continue;
    if (begin > start) remaining.push([start, begin]);
    start = Math.max(start, finish);
  }
  if (start < to) remaining.push([start, to]);
  return remaining;
}
