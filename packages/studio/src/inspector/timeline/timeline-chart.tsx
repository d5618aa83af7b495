import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import { createLinearScale, createRunScale, type TimeScale } from "./time-scale.ts";
import type { Timeline, TimelineBar } from "./timeline.ts";
import { TimelineDetails } from "./timeline-details.tsx";
import { getBarAt, type RowContext, rowHeight, TimelineLine } from "./timeline-row.tsx";
import { buildRows, findRowIndex, type TimelineRow } from "./timeline-rows.ts";

type TimelineChartProps = {
  readonly timeline: Timeline;
  /** Changes when the timeline grows. */
  readonly version: number;
  readonly now: number;
  readonly scale: "run" | "turn";
  readonly upTo?: number;
  /** The `seq` of the focused fact. */
  readonly factSeq: number | undefined;
  readonly onSelect: (bar: TimelineBar) => void;
  /** Hides the details on small screens. */
  readonly isCompact?: boolean;
  /** Actions shown below the details. */
  readonly actions?: (bar: TimelineBar) => ReactNode;
};

/** The timeline as a virtualized waterfall chart. */
export function TimelineChart(props: TimelineChartProps): ReactNode {
  const { timeline, version, now, scale, upTo = Number.POSITIVE_INFINITY, factSeq, onSelect } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version tells when it grows
  const rows = useMemo(() => buildRows(timeline), [timeline, version]);
  const [hovered, setHovered] = useState<TimelineBar>();
  const list = useRef<VListHandle>(null);
  const bars = useMemo(() => rows.flatMap((row) => (row.type === "run" ? [] : row.bars)), [rows]);
  const selected = useMemo(() => findBar(timeline, rows, factSeq), [timeline, rows, factSeq]);
  useEffect(() => {
    const at = selected ? findRowIndex(rows, selected.id) : -1;
    if (at >= 0) list.current?.scrollToIndex(at, { align: "nearest" });
  }, [rows, selected]);

  function onKey(event: KeyboardEvent<HTMLDivElement>): void {
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const edge = { Home: 0, End: bars.length - 1 }[event.key];
    if (step === undefined && edge === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = bars.findIndex(({ id }) => id === (hovered ?? selected)?.id);
    const next = bars[edge ?? Math.min(bars.length - 1, Math.max(0, at + (step ?? 0)))];
    if (!next) return;
    onSelect(next);
    list.current?.scrollToIndex(findRowIndex(rows, next.id), { align: "nearest" });
    focusBar(event.currentTarget, next.id);
  }

  const getScale = useScales({ timeline, now, scale });
  const tabId = selected?.id ?? bars[0]?.id;
  const context: RowContext = {
    getScale,
    isPerTurn: scale === "turn",
    now,
    upTo,
    selectedId: selected?.id,
    tabId,
    onSelect,
    onHover: setHovered,
  };
  const activeBar = hovered ?? selected;
  const shown = activeBar && getBarAt(activeBar, upTo);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would announce a form */}
      <div role="group" aria-label="Timeline" className="min-h-0 flex-1" onKeyDown={onKey}>
        <VList ref={list} data={rows} itemSize={rowHeight} className="h-full [scrollbar-gutter:stable]">
          {(row) => <TimelineLine key={row.id} row={row} context={context} />}
        </VList>
      </div>
      <div className={props.isCompact ? "max-lg:hidden" : undefined}>
        <TimelineDetails
          bar={shown}
          timeline={timeline}
          now={now}
          actions={shown && props.actions?.(shown)}
        />
      </div>
    </div>
  );
}

const maxFrames = 12;

/** Retries for some frames: a distant bar is rendered later, and hidden elements cannot take focus. */
function focusBar(container: HTMLElement, id: string, attemptsLeft: number = maxFrames): void {
  requestAnimationFrame(() => {
    const bar = container.querySelector<HTMLElement>(`[data-bar="${CSS.escape(id)}"]`);
    bar?.focus();
    const isThere = bar && bar === document.activeElement;
    if (!isThere && attemptsLeft > 0) focusBar(container, id, attemptsLeft - 1);
  });
}

type ScaleOptions = Pick<TimelineChartProps, "timeline" | "now" | "scale">;

/** Returns the scale of a row's run or turn, created on demand. */
function useScales({ timeline, now, scale }: ScaleOptions): (row: TimelineRow) => TimeScale {
  const scales = new Map<string, TimeScale>();
  return (row) => {
    const isPerTurn = scale === "turn" && row.type !== "run";
    const key = isPerTurn ? row.turn.id : row.root.id;
    const isRunning = row.root.status === "running";
    const createScale = () =>
      isPerTurn
        ? createLinearScale(
            row.turn.from,
            row.turn === row.root.turns.at(-1) && isRunning ? now : row.turn.to,
          )
        : createRunScale(timeline, row.root, now);
    const known = scales.get(key) ?? createScale();
    scales.set(key, known);
    return known;
  };
}

/** Finds the bar of a fact, or the first bar of its turn. */
function findBar(
  timeline: Timeline,
  rows: readonly TimelineRow[],
  seq: number | undefined,
): TimelineBar | undefined {
  const id = seq === undefined ? undefined : timeline.locations.get(seq);
  if (id === undefined) return undefined;
  const row = rows[findRowIndex(rows, id)];
  if (!row || row.type === "run") return undefined;
  return row.bars.find((bar) => bar.id === id) ?? row.bars[0];
}
