import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import { classNames } from "../../ui/class-names.ts";
import { spanOf } from "../../ui/format-duration.ts";
import type { TimeScale } from "./time-scale.ts";
import type { TimelineBar, TimelineMark } from "./timeline.ts";
import type { TimelineRow } from "./timeline-rows.ts";

/** What all lines have in common. */
export type RowLook = {
  readonly scaleOf: (row: TimelineRow) => TimeScale;
  /** The moment up to which what is still on is drawn. */
  readonly now: number;
  /** What comes behind this fact has not happened yet. */
  readonly upTo: number;
  readonly selectedId: string | undefined;
  /** The one bar that the keyboard comes to. */
  readonly tabId: string | undefined;
  readonly onSelect: (bar: TimelineBar) => void;
  readonly onHover: (bar: TimelineBar | undefined) => void;
};

export const rowHeight = 28;

const columns = "grid grid-cols-[8.25rem_minmax(0,1fr)_3.75rem] items-center gap-2 px-4";

/** One line of the timeline. */
export function TimelineLine({
  row,
  look,
}: {
  readonly row: TimelineRow;
  readonly look: RowLook;
}): ReactNode {
  const isFuture = seqOf(row) > look.upTo;
  if (row.type === "run") return <RunLine row={row} isFuture={isFuture} />;
  const bars = row.bars.map((bar) => barAt(bar, look.upTo));
  const shown = bars.filter(({ seq }) => seq <= look.upTo);
  const ms = shown.reduce((sum, bar) => sum + endOf(bar, look.now) - bar.from, 0);
  const isSelected = row.bars.some(({ id }) => id === look.selectedId);
  return (
    <div
      style={{ height: rowHeight }}
      className={classNames(columns, isFuture && "invisible", isSelected && "bg-sunken")}
    >
      <RowLabel row={row} />
      <div className="relative h-4">
        <div aria-hidden="true" className="absolute inset-x-0 top-1/2 h-px bg-line" />
        {bars.map((bar) => (
          <BarButton key={bar.id} bar={bar} row={row} look={look} />
        ))}
        {row.type === "turn" &&
          row.turn.marks
            .filter(({ seq }) => seq <= look.upTo)
            .map((one) => <Mark key={one.seq} mark={one} place={look.scaleOf(row)(one.at)} />)}
      </div>
      <span className="text-right text-xs text-quiet tabular-nums">{shown.length > 0 && spanOf(ms)}</span>
    </div>
  );
}

function seqOf(row: TimelineRow): number {
  if (row.type === "run") return row.run.seq;
  return row.type === "turn" ? row.turn.seq : row.bars[0].seq;
}

/** As the bar was when only the facts up to one had happened. */
export function barAt(bar: TimelineBar, upTo: number): TimelineBar {
  return bar.lastSeq > upTo && bar.seq <= upTo ? { ...bar, to: bar.from, state: "running", about: "" } : bar;
}

/** Where a bar ends: what is still on goes on until now. */
export function endOf({ state, to, from }: TimelineBar, now: number): number {
  return state === "running" ? Math.max(from, to, now) : to;
}

function RunLine({ row, isFuture }: { readonly row: TimelineRow; readonly isFuture: boolean }): ReactNode {
  const { question, status, from, to } = row.root;
  return (
    <div
      style={{ height: rowHeight }}
      className={classNames("flex items-center gap-2 border-t px-4", isFuture && "invisible")}
    >
      <span className="min-w-0 flex-1 truncate text-[0.8125rem] font-medium">
        {steadyText(question) || "A run"}
      </span>
      <span
        className={classNames(
          "shrink-0 text-xs tabular-nums",
          status === "failed" ? "text-bad" : status === "waiting" ? "text-warn" : "text-faint",
        )}
      >
        {status === "done" ? spanOf(to - from) : `${status} · ${spanOf(to - from)}`}
      </span>
    </div>
  );
}

function RowLabel({ row }: { readonly row: Exclude<TimelineRow, { type: "run" }> }): ReactNode {
  const indent = row.depth * 12 + (row.type === "bar" ? 12 : 0);
  const isOther = row.type === "turn" && (row.depth > 0 || row.turn.agent !== row.root.agent);
  const hasTrouble = row.type === "turn" && row.turn.marks.some(({ isBad }) => isBad);
  const words = row.type === "bar" ? row.bars[0].label : turnLabel(row.turn.turn);
  return (
    <span
      title={steadyText(isOther ? `${words}, ${row.turn.agent}` : words)}
      style={{ paddingLeft: indent }}
      className="flex min-w-0 items-center gap-1 text-xs"
    >
      <span className={classNames("truncate", row.type === "bar" && "text-quiet")}>
        {steadyText(words)}
        {isOther && <span className="text-accent"> {steadyText(row.turn.agent)}</span>}
      </span>
      {hasTrouble && <TriangleAlert size={11} aria-hidden="true" className="shrink-0 text-warn" />}
    </span>
  );
}

/** A turn in words. */
export const turnLabel = (turn: number): string => (turn === 0 ? "Before" : `Turn ${turn}`);

const kinds = {
  model: "bg-accent",
  tool: "bg-quiet",
  waiting: "border border-dashed border-warn bg-warn-soft",
} as const;

type BarButtonProps = { readonly bar: TimelineBar; readonly row: TimelineRow; readonly look: RowLook };

function BarButton({ bar, row, look }: BarButtonProps): ReactNode {
  if (bar.seq > look.upTo) return null;
  const scale = look.scaleOf(row);
  const left = Math.min(scale(bar.from), 0.985);
  const width = Math.max(0, scale(endOf(bar, look.now)) - left);
  const isBad = bar.state === "error" || bar.state === "denied" || bar.state === "interrupted";
  return (
    <button
      type="button"
      data-bar={bar.id}
      data-kind={bar.kind}
      data-seq={bar.seq}
      tabIndex={bar.id === look.tabId ? 0 : -1}
      aria-label={barLabel(bar, look.now)}
      aria-pressed={bar.id === look.selectedId}
      onClick={() => look.onSelect(bar)}
      onFocus={() => look.onHover(bar)}
      onBlur={() => look.onHover(undefined)}
      onMouseEnter={() => look.onHover(bar)}
      onMouseLeave={() => look.onHover(undefined)}
      style={{ left: `${left * 100}%`, width: `max(6px, ${width * 100}%)` }}
      className="group absolute inset-y-0 flex items-center"
    >
      <span
        className={classNames(
          "block h-2.5 w-full rounded-[3px]",
          isBad ? "bg-bad" : kinds[bar.kind],
          bar.state === "skipped" && "opacity-40",
          bar.state === "running" && "animate-pulse motion-reduce:animate-none",
          bar.id === look.selectedId &&
            "outline-2 outline-offset-1 outline-accent group-focus-visible:outline-0",
        )}
      />
      {bar.attempts > 1 && (
        <span aria-hidden="true" className="absolute -right-0.5 -top-0.5 size-1.5 rounded-full bg-warn" />
      )}
    </button>
  );
}

/** A bar for those who cannot see it. */
function barLabel(bar: TimelineBar, now: number): string {
  const retries = bar.attempts > 1 ? `, ${bar.attempts} tries` : "";
  const ended = bar.state === "running" ? "still on" : bar.state;
  return `${bar.kind} ${steadyText(bar.label)}, ${spanOf(endOf(bar, now) - bar.from)}, ${ended}${retries}`;
}

function Mark({ mark, place }: { readonly mark: TimelineMark; readonly place: number }): ReactNode {
  return (
    <span
      title={steadyText(mark.label)}
      style={{ left: `min(${place * 100}%, calc(100% - 3px))` }}
      className={classNames(
        "absolute -inset-y-0.5 w-[3px] rounded-full ring-1 ring-paper",
        mark.isBad ? "bg-warn" : "bg-ink",
      )}
    />
  );
}
