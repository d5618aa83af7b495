import type { Timeline, TimelineBar, TimelineRun, TimelineTurn } from "./timeline.ts";

/** One line of the timeline. A turn shows its model bars itself; every other bar has a line of its own. */
export type TimelineRow = { readonly id: string; readonly root: TimelineRun; readonly depth: number } & (
  | { readonly type: "run"; readonly run: TimelineRun }
  | { readonly type: "turn"; readonly turn: TimelineTurn; readonly bars: readonly TimelineBar[] }
  | { readonly type: "bar"; readonly turn: TimelineTurn; readonly bars: readonly [TimelineBar] }
);

/** The lines from top to bottom: what happened inside a call stands under it. */
export function rowsOf(timeline: Timeline): readonly TimelineRow[] {
  const rows: TimelineRow[] = [];
  for (const run of timeline.runs) {
    rows.push({ type: "run", id: run.id, root: run, depth: 0, run });
    addTurns(rows, { timeline, root: run }, run);
  }
  return rows;
}

type Within = { readonly timeline: Timeline; readonly root: TimelineRun };

function addTurns(rows: TimelineRow[], within: Within, run: TimelineRun): void {
  const { root, timeline } = within;
  for (const turn of run.turns) {
    const { depth } = turn;
    const bars = turn.bars.filter(({ kind }) => kind === "model");
    rows.push({ type: "turn", id: turn.id, root, depth, turn, bars });
    for (const bar of turn.bars) {
      if (bar.kind === "model") continue;
      rows.push({ type: "bar", id: bar.id, root, depth, turn, bars: [bar] });
      for (const inside of timeline.nested.get(bar.id) ?? []) addTurns(rows, within, inside);
    }
  }
}

/** In which line a bar or a turn is. */
export function rowIndexOf(rows: readonly TimelineRow[], id: string): number {
  return rows.findIndex(
    (row) => row.id === id || (row.type !== "run" && row.bars.some((bar) => bar.id === id)),
  );
}
