import type { Timeline, TimelineBar, TimelineRun } from "./timeline.ts";

/** A time from and to. */
export type Span = readonly [from: number, to: number];

/** Maps a time to a position between 0 (start) and 1 (end). */
export type TimeScale = {
  (at: number): number;
  readonly from: number;
  readonly to: number;
  /** Spans that are drawn shorter than they are. */
  readonly gaps: readonly Span[];
};

/** Maximum share of the width that waiting may take. */
const maxWaitingShare = 0.3;
/** Maximum share of the width that long work takes, if it would make other work too small to see. */
const maxLongShare = 0.6;
/** A span is long if it takes more than this share of the run. */
const longShare = 0.1;
/** A bar is too small to see below this share of the run. */
const tinyShare = 0.01;
/** Shorter runs are drawn to scale, except for their waits. */
const minLongRunMs = 60_000;

/**
 * Creates a scale for a run. Idle times are shortened when they would take more than their share. So is long work, if a
 * call of two hours would make the calls of a second next to it too small to see.
 */
export function createRunScale(timeline: Timeline, run: TimelineRun, now: number): TimeScale {
  const end = Math.max(run.to, run.status === "running" ? now : run.to);
  const bars = getLeafBars(timeline, run);
  const idle = findIdleSpans(bars, end);
  const long = findLongSpans(bars, idle, [run.from, end]);
  const [idleMs, longMs] = [sumSpans(idle), sumSpans(long)];
  const workMs = Math.max(1, end - run.from - idleMs - longMs);
  const longFactor = limitShare(longMs, workMs, maxLongShare);
  const idleFactor = limitShare(idleMs, workMs + longMs * longFactor, maxWaitingShare);
  const shortened = [
    ...idle.map((span) => ({ span, factor: idleFactor })),
    ...long.map((span) => ({ span, factor: longFactor })),
  ].filter(({ factor }) => factor < 1);
  const length = workMs + longMs * longFactor + idleMs * idleFactor;
  const place = (at: number): number => {
    const moment = Math.min(Math.max(at, run.from), end);
    let shown = moment - run.from;
    for (const { span, factor } of shortened)
      shown -= Math.max(0, Math.min(moment, span[1]) - span[0]) * (1 - factor);
    return Math.min(1, Math.max(0, shown / length));
  };
  const gaps = shortened.map(({ span }) => span).toSorted((first, second) => first[0] - second[0]);
  return Object.assign(place, { from: run.from, to: end, gaps });
}

export function createLinearScale(from: number, to: number): TimeScale {
  const length = Math.max(1, to - from);
  const place = (at: number): number => Math.min(1, Math.max(0, (at - from) / length));
  return Object.assign(place, { from, to, gaps: [] });
}

const sumSpans = (spans: readonly Span[]): number => spans.reduce((sum, [from, to]) => sum + (to - from), 0);

/** The factor that makes a part take at most its share of the whole. */
function limitShare(partMs: number, restMs: number, share: number): number {
  const maxMs = (restMs * share) / (1 - share);
  return partMs > maxMs ? maxMs / partMs : 1;
}

/** Finds long spans in which nothing starts or ends, in a long run with bars too small to see. */
function findLongSpans(bars: readonly TimelineBar[], idle: readonly Span[], [from, end]: Span): Span[] {
  const total = end - from - sumSpans(idle);
  const isTiny = (bar: TimelineBar) => bar.state !== "running" && bar.to - bar.from < total * tinyShare;
  if (total < minLongRunMs || !bars.some(isTiny)) return [];
  const edges = [...new Set([from, end, ...bars.flatMap((bar) => [bar.from, bar.to]), ...idle.flat()])]
    .filter((at) => at >= from && at <= end)
    .sort((first, second) => first - second);
  return edges
    .slice(1)
    .map((to, index): Span => [edges[index] ?? from, to])
    .filter(([start, to]) => to - start > total * longShare)
    .filter(([start, to]) => !idle.some((wait) => wait[0] <= start && wait[1] >= to));
}

/** Returns all bars, with the bars of a nested run in place of its call. */
function getLeafBars(timeline: Timeline, run: TimelineRun): TimelineBar[] {
  return run.turns.flatMap(({ bars }) =>
    bars.flatMap(
      (bar) => timeline.nested.get(bar.id)?.flatMap((nestedRun) => getLeafBars(timeline, nestedRun)) ?? [bar],
    ),
  );
}

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
