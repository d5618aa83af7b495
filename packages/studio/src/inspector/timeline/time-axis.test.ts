import { describe, expect, it } from "vitest";
import { buildAxis, formatOffset } from "./time-axis.ts";
import { createLinearScale, createRunScale } from "./time-scale.ts";
import type { Timeline, TimelineBar, TimelineRun } from "./timeline.ts";

const [second, hour] = [1000, 3_600_000];

/** A run with one bar per pair of times. */
function createRun(spans: readonly (readonly [number, number])[], kind: TimelineBar["kind"] = "tool") {
  const bars = spans.map(
    ([from, to], index): TimelineBar => ({
      ...{ id: `b${index}`, kind: index === 1 ? kind : "model", label: "x", from, to },
      ...{ seq: index, lastSeq: index, state: "ok", attempts: 1, detail: "" },
    }),
  );
  const [from, to] = [0, Math.max(...spans.map((span) => span[1]))];
  const run = { id: "r", from, to, status: "done", turns: [{ bars }] } as unknown as TimelineRun;
  const timeline: Timeline = { runs: [run], nested: new Map(), locations: new Map() };
  return { scale: createRunScale(timeline, run, to), bars };
}

describe("the axis of a timeline", () => {
  it.each([
    [200, ["0", "50 ms", "100 ms", "150 ms"]],
    [1_300, ["0", "500 ms", "1 s"]],
    [10_000, ["0", "5 s", "10 s"]],
    [125_000, ["0", "30 s", "1:00", "1:30"]],
    [2 * hour, ["0", "30:00", "1:00:00", "1:30:00"]],
  ] as const)("has round, readable steps for %i ms", (ms, labels) => {
    const { ticks } = buildAxis(createLinearScale(5_000, 5_000 + ms));
    expect(ticks.map(({ label }) => label)).toEqual(labels);
    ticks.slice(1).forEach(({ place }, index) => {
      expect(place - (ticks[index]?.place ?? 0)).toBeGreaterThanOrEqual(0.239);
    });
  });

  it("formats times since the start", () => {
    expect([200, 1500, 65_000, 2 * hour + 5000].map(formatOffset)).toEqual([
      "200 ms",
      "1.5 s",
      "1:05",
      "2:00:05",
    ]);
  });
});

describe("a run of two hours", () => {
  const spans = [
    [0, second],
    [second, 2 * hour],
    [2 * hour, 2 * hour + second],
  ] as const;

  it("shows calls of a second beside a call of two hours, and says what is shortened", () => {
    const { scale, bars } = createRun(spans);
    for (const { from, to } of bars) expect(scale(to) - scale(from)).toBeGreaterThan(0.15);
    const { gaps, ticks } = buildAxis(scale);
    expect(gaps).toEqual([expect.objectContaining({ label: "2 h" })]);
    for (const { place } of ticks)
      expect(place > (gaps[0]?.from ?? 0) && place < (gaps[0]?.to ?? 0)).toBe(false);
  });

  it("shortens a wait of two hours", () => {
    const { scale } = createRun(spans, "waiting");
    expect(scale(2 * hour) - scale(second)).toBeCloseTo(0.3, 3);
    expect(buildAxis(scale).ticks.at(-1)?.label).toBe("2:00:01");
  });

  it("is drawn to scale if every call is visible", () => {
    const { scale } = createRun([
      [0, hour / 2],
      [hour / 2, hour],
      [hour, 2 * hour],
    ]);
    expect([scale.gaps, scale(hour)]).toEqual([[], 0.5]);
  });
});

it("a run of 200 ms is drawn to scale", () => {
  const { scale } = createRun([
    [0, 60],
    [60, 61],
    [61, 200],
  ]);
  expect([scale.gaps, scale(60)]).toEqual([[], 0.3]);
});
