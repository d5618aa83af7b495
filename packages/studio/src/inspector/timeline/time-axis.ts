import { formatDuration } from "../../ui/format-duration.ts";
import type { TimeScale } from "./time-scale.ts";

/** A label on the axis. `place` is between 0 and 1. */
export type Tick = { readonly place: number; readonly label: string };

/** A shortened span on the axis. */
export type AxisGap = { readonly from: number; readonly to: number; readonly label: string };

export type TimeAxis = { readonly ticks: readonly Tick[]; readonly gaps: readonly AxisGap[] };

const [second, minute, hour] = [1000, 60_000, 3_600_000] as const;
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 6, 12, 24, 48].map((count) => count * hour),
];
const [minDistance, maxTicks] = [0.24, 60];
/** A label at the end is drawn before its place, and needs more room. */
const [endPlace, endDistance] = [0.85, 0.34];

/** Builds labels at round times since the start, far enough from each other to be read. None are in a shortened span. */
export function buildAxis(scale: TimeScale): TimeAxis {
  const { from, to, gaps } = scale;
  const shownMs = to - from - gaps.reduce((sum, gap) => sum + gap[1] - gap[0], 0);
  const shownShare = 1 - gaps.reduce((sum, gap) => sum + scale(gap[1]) - scale(gap[0]), 0);
  const wantedMs = (minDistance * Math.max(shownMs, 1)) / Math.max(shownShare, 0.05);
  const step = steps.find((each) => each >= wantedMs) ?? Math.ceil(wantedMs / (24 * hour)) * 24 * hour;
  const axisGaps = gaps.map((gap) => ({
    ...{ from: scale(gap[0]), to: scale(gap[1]), label: formatDuration(gap[1] - gap[0]) },
  }));
  const ticks: Tick[] = [{ place: 0, label: "0" }];
  const isFree = (place: number): boolean =>
    place - (ticks.at(-1)?.place ?? 0) >= (place > endPlace ? endDistance : minDistance) - 1e-9 &&
    place <= 1 &&
    !axisGaps.some((gap) => place > gap.from - 0.02 && place < gap.to + 0.02);
  let start = from;
  for (const stretchEnd of [...gaps.map((gap) => gap[0]), to]) {
    const first = Math.ceil((start - from) / step) * step;
    for (let at = first, count = 0; from + at <= stretchEnd && count < maxTicks; at += step, count++)
      if (at > 0 && isFree(scale(from + at)))
        ticks.push({ place: scale(from + at), label: formatOffset(at) });
    start = gaps.find((gap) => gap[0] === stretchEnd)?.[1] ?? to;
  }
  return { ticks, gaps: axisGaps };
}

/** Formats a time since the start: `200 ms`, `1.5 s`, `2:05`, `2:00:05`. */
export function formatOffset(ms: number): string {
  if (ms < second) return `${ms} ms`;
  if (ms < minute) return `${Number((ms / second).toFixed(1))} s`;
  const seconds = Math.round(ms / second);
  const pad = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
}
