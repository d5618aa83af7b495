import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import { plainScale, runScale, type TimeScale } from "./time-scale.ts";
import type { Timeline, TimelineBar } from "./timeline.ts";
import { TimelineDetails } from "./timeline-details.tsx";
import { barAt, type RowLook, rowHeight, TimelineLine } from "./timeline-row.tsx";
import { rowIndexOf, rowsOf, type TimelineRow } from "./timeline-rows.ts";

type TimelineChartProps = {
  readonly timeline: Timeline;
  /** Another one when the timeline has grown. */
  readonly version: number;
  readonly now: number;
  readonly scale: "run" | "turn";
  readonly upTo?: number;
  /** The `seq` of the fact that is looked at. */
  readonly factSeq: number | undefined;
  readonly onSelect: (bar: TimelineBar) => void;
  /** Where there is little room, bars alone. */
  readonly isBare?: boolean;
  /** Under what is known of a bar. */
  readonly actions?: (bar: TimelineBar) => ReactNode;
};

/** The timeline as a waterfall. Only what is in sight is drawn. */
export function TimelineChart(props: TimelineChartProps): ReactNode {
  const { timeline, version, now, scale, upTo = Number.POSITIVE_INFINITY, factSeq, onSelect } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says that it has grown
  const rows = useMemo(() => rowsOf(timeline), [timeline, version]);
  const [hovered, setHovered] = useState<TimelineBar>();
  const list = useRef<VListHandle>(null);
  const bars = useMemo(() => rows.flatMap((row) => (row.type === "run" ? [] : row.bars)), [rows]);
  const selected = useMemo(() => barOf(timeline, rows, factSeq), [timeline, rows, factSeq]);
  useEffect(() => {
    const at = selected ? rowIndexOf(rows, selected.id) : -1;
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
    list.current?.scrollToIndex(rowIndexOf(rows, next.id), { align: "nearest" });
    focusWhenDrawn(event.currentTarget, next.id);
  }

  const scaleOf = useScales({ timeline, now, scale });
  const tabId = selected?.id ?? bars[0]?.id;
  const look: RowLook = {
    scaleOf,
    now,
    upTo,
    selectedId: selected?.id,
    tabId,
    onSelect,
    onHover: setHovered,
  };
  const found = hovered ?? selected;
  const shown = found && barAt(found, upTo);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would say that it is a form */}
      <div role="group" aria-label="Timeline" className="min-h-0 flex-1" onKeyDown={onKey}>
        <VList ref={list} data={rows} itemSize={rowHeight} className="h-full [scrollbar-gutter:stable]">
          {(row) => <TimelineLine key={row.id} row={row} look={look} />}
        </VList>
      </div>
      <div className={props.isBare ? "max-lg:hidden" : undefined}>
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

const mostFrames = 12;

/** What was far away is drawn, and then seen, only some pictures later; what is not seen takes no focus. */
function focusWhenDrawn(frame: HTMLElement, id: string, left: number = mostFrames): void {
  requestAnimationFrame(() => {
    const bar = frame.querySelector<HTMLElement>(`[data-bar="${CSS.escape(id)}"]`);
    bar?.focus();
    const isThere = bar && bar === document.activeElement;
    if (!isThere && left > 0) focusWhenDrawn(frame, id, left - 1);
  });
}

type Scaled = Pick<TimelineChartProps, "timeline" | "now" | "scale">;

/** The scale of a line: of its run or of its turn, made when it is first needed. */
function useScales({ timeline, now, scale }: Scaled): (row: TimelineRow) => TimeScale {
  const made = new Map<string, TimeScale>();
  return (row) => {
    const isOfTurn = scale === "turn" && row.type !== "run";
    const key = isOfTurn ? row.turn.id : row.root.id;
    const isOn = row.root.status === "running";
    const fresh = () =>
      isOfTurn
        ? plainScale(row.turn.from, row.turn === row.root.turns.at(-1) && isOn ? now : row.turn.to)
        : runScale(timeline, row.root, now);
    const known = made.get(key) ?? fresh();
    made.set(key, known);
    return known;
  };
}

/** The bar that a fact belongs to; of a turn its first one. */
function barOf(
  timeline: Timeline,
  rows: readonly TimelineRow[],
  seq: number | undefined,
): TimelineBar | undefined {
  const id = seq === undefined ? undefined : timeline.places.get(seq);
  if (id === undefined) return undefined;
  const row = rows[rowIndexOf(rows, id)];
  if (!row || row.type === "run") return undefined;
  return row.bars.find((bar) => bar.id === id) ?? row.bars[0];
}
