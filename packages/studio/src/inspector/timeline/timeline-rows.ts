import type { Timeline, TimelineBar, TimelineRun, TimelineTurn } from "./timeline.ts";

/** A row of the timeline. A turn's row contains its model bars; every other bar has its own row. */
export type TimelineRow = { readonly id: string; readonly root: TimelineRun; readonly depth: number } & (
  | { readonly type: "run"; readonly run: TimelineRun }
  | { readonly type: "turn"; readonly turn: TimelineTurn; readonly bars: readonly TimelineBar[] }
  | { readonly type: "bar"; readonly turn: TimelineTurn; readonly bars: readonly [TimelineBar] }
);

/** Builds the rows; nested runs follow their call. */
export function buildRows(timeline: Timeline): readonly TimelineRow[] {
  const rows: TimelineRow[] = [];
  for (const run of timeline.runs) {
    rows.push({ type: "run", id: run.id, root: run, depth: 0, run });
    addTurns(rows, { timeline, root: run }, run);
  }
  return rows;
}

type RowScope = { readonly timeline: Timeline; readonly root: TimelineRun };

function addTurns(rows: TimelineRow[], scope: RowScope, run: TimelineRun): void {
  const { root, timeline } = scope;
  for (const turn of run.turns) {
    const { depth } = turn;
    const bars = turn.bars.filter(({ kind }) => kind === "model");
    rows.push({ type: "turn", id: turn.id, root, depth, turn, bars });
    for (const bar of turn.bars) {
      if (bar.kind === "model") continue;
      rows.push({ type: "bar", id: bar.id, root, depth, turn, bars: [bar] });
      for (const nestedRun of timeline.nested.get(bar.id) ?? []) addTurns(rows, scope, nestedRun);
    }
  }
}

/** Finds the row of a bar or turn. */
export function findRowIndex(rows: readonly TimelineRow[], id: string): number {
  return rows.findIndex(
    (row) => row.id === id || (row.type !== "run" && row.bars.some((bar) => bar.id === id)),
  );
}
