import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi } from "../../ui/escape-text.ts";
import { formatDuration } from "../../ui/format-duration.ts";
import { buildAxis } from "./time-axis.ts";
import type { TimeScale } from "./time-scale.ts";
import type { TimelineBar, TimelineMark } from "./timeline.ts";
import type { TimelineRow } from "./timeline-rows.ts";

/** Props shared by all rows. */
export type RowContext = {
  readonly getScale: (row: TimelineRow) => TimeScale;
  /** Every turn has its own scale, so that a run has no axis. */
  readonly isPerTurn: boolean;
  /** End time for running bars. */
  readonly now: number;
  /** Facts after this position are hidden. */
  readonly upTo: number;
  readonly selectedId: string | undefined;
  /** The bar in the tab order. */
  readonly tabId: string | undefined;
  readonly onSelect: (bar: TimelineBar) => void;
  readonly onHover: (bar: TimelineBar | undefined) => void;
};

export const rowHeight = 28;

const columns = "grid grid-cols-[8.25rem_minmax(0,1fr)_3.75rem] items-center gap-2 px-4";

/** One row of the timeline. */
export function TimelineLine({
  row,
  context,
}: {
  readonly row: TimelineRow;
  readonly context: RowContext;
}): ReactNode {
  const isFuture = getRowSeq(row) > context.upTo;
  if (row.type === "run") return <RunLine row={row} isFuture={isFuture} context={context} />;
  const bars = row.bars.map((bar) => getBarAt(bar, context.upTo));
  const shown = bars.filter(({ seq }) => seq <= context.upTo);
  const ms = shown.reduce((sum, bar) => sum + getBarEnd(bar, context.now) - bar.from, 0);
  const isSelected = row.bars.some(({ id }) => id === context.selectedId);
  return (
    <div
      style={{ height: rowHeight }}
      className={classNames(columns, isFuture && "invisible", isSelected && "bg-sunken")}
    >
      <RowLabel row={row} />
      <div className="relative h-4">
        <AxisLines scale={context.getScale(row)} />
        {bars.map((bar) => (
          <BarButton key={bar.id} bar={bar} row={row} context={context} />
        ))}
        {row.type === "turn" &&
          row.turn.marks
            .filter(({ seq }) => seq <= context.upTo)
            .map((mark) => <Mark key={mark.seq} mark={mark} place={context.getScale(row)(mark.at)} />)}
      </div>
      <span className="text-right text-xs text-quiet tabular-nums">
        {shown.length > 0 && formatDuration(ms)}
      </span>
    </div>
  );
}

function getRowSeq(row: TimelineRow): number {
  if (row.type === "run") return row.run.seq;
  return row.type === "turn" ? row.turn.seq : row.bars[0].seq;
}

/** Returns the bar as of a position. */
export function getBarAt(bar: TimelineBar, upTo: number): TimelineBar {
  return bar.lastSeq > upTo && bar.seq <= upTo ? { ...bar, to: bar.from, state: "running", detail: "" } : bar;
}

/** Returns the end of a bar, which is now while it runs. */
export function getBarEnd({ state, to, from }: TimelineBar, now: number): number {
  return state === "running" ? Math.max(from, to, now) : to;
}

/** The lines of the axis behind the bars of a row. Hatched: shorter than it is. */
function AxisLines({ scale }: { readonly scale: TimeScale }): ReactNode {
  const { ticks, gaps } = buildAxis(scale);
  return (
    <div aria-hidden="true">
      <div className="absolute inset-x-0 top-1/2 h-px bg-line" />
      {ticks.map(({ place }) => (
        <div
          key={place}
          style={{ left: `${place * 100}%` }}
          className="absolute -inset-y-1.5 w-px bg-line/70"
        />
      ))}
      {gaps.map(({ from, to }) => (
        <div
          key={from}
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
          className="absolute -inset-y-1.5 bg-[repeating-linear-gradient(-45deg,transparent_0_4px,var(--line)_4px_5px)]"
        />
      ))}
    </div>
  );
}

/** Times since the start of the run, and how long the shortened spans are. */
function AxisLabels({ scale }: { readonly scale: TimeScale }): ReactNode {
  const { ticks, gaps } = buildAxis(scale);
  return (
    <div aria-hidden="true" data-axis="" className={classNames(columns, "text-tiny text-faint leading-4")}>
      <span />
      <div className="relative h-4 whitespace-nowrap tabular-nums">
        {ticks.map(({ place, label }) => (
          <span
            key={place}
            style={{ left: `${place * 100}%` }}
            className={classNames(
              "absolute",
              place > 0.85 ? "-translate-x-full" : place > 0 && "-translate-x-1/2",
            )}
          >
            {label}
          </span>
        ))}
        {gaps
          .filter(({ from, to }) => to - from > minGapLabel)
          .map(({ from, to, label }) => (
            <span
              key={from}
              style={{ left: `${((from + to) / 2) * 100}%` }}
              className="absolute -translate-x-1/2 text-quiet italic"
            >
              {label}
            </span>
          ))}
      </div>
    </div>
  );
}

/** A shorter gap has no room for its label. */
const minGapLabel = 0.2;
const axisHeight = 18;

type RunLineProps = {
  readonly row: TimelineRow;
  readonly isFuture: boolean;
  readonly context: RowContext;
};

function RunLine({ row, isFuture, context }: RunLineProps): ReactNode {
  const { isPerTurn, getScale } = context;
  return (
    <div
      style={{ height: rowHeight + (isPerTurn ? 0 : axisHeight) }}
      className={classNames("border-t", isFuture && "invisible")}
    >
      <RunTitle row={row} />
      {!isPerTurn && <AxisLabels scale={getScale(row)} />}
    </div>
  );
}

function RunTitle({ row }: { readonly row: TimelineRow }): ReactNode {
  const { question, status, from, to } = row.root;
  return (
    <div style={{ height: rowHeight }} className="flex items-center gap-2 px-4">
      <span className="min-w-0 flex-1 truncate text-small font-medium">{escapeBidi(question) || "Run"}</span>
      <span
        className={classNames(
          "shrink-0 text-xs tabular-nums",
          status === "failed" ? "text-bad" : status === "waiting" ? "text-warn" : "text-faint",
        )}
      >
        {status === "done" ? formatDuration(to - from) : `${status} · ${formatDuration(to - from)}`}
      </span>
    </div>
  );
}

function RowLabel({ row }: { readonly row: Exclude<TimelineRow, { type: "run" }> }): ReactNode {
  const indent = row.depth * 12 + (row.type === "bar" ? 12 : 0);
  const isOther = row.type === "turn" && (row.depth > 0 || row.turn.agent !== row.root.agent);
  const hasTrouble = row.type === "turn" && row.turn.marks.some(({ isBad }) => isBad);
  const label = row.type === "bar" ? row.bars[0].label : formatTurn(row.turn.turn);
  return (
    <span
      title={escapeBidi(isOther ? `${label}, ${row.turn.agent}` : label)}
      style={{ paddingLeft: indent }}
      className="flex min-w-0 items-center gap-1 text-xs"
    >
      <span className={classNames("truncate", row.type === "bar" && "text-quiet")}>
        {escapeBidi(label)}
        {isOther && <span className="text-accent"> {escapeBidi(row.turn.agent)}</span>}
      </span>
      {hasTrouble && <TriangleAlert size={11} aria-hidden="true" className="shrink-0 text-warn" />}
    </span>
  );
}

export const formatTurn = (turn: number): string => (turn === 0 ? "Start" : `Turn ${turn}`);

const barStyles = {
  model: "bg-accent",
  tool: "bg-quiet",
  waiting: "border border-dashed border-warn bg-warn-soft",
} as const;

type BarButtonProps = { readonly bar: TimelineBar; readonly row: TimelineRow; readonly context: RowContext };

function BarButton({ bar, row, context }: BarButtonProps): ReactNode {
  if (bar.seq > context.upTo) return null;
  const scale = context.getScale(row);
  const left = Math.min(scale(bar.from), 0.985);
  const width = Math.max(0, scale(getBarEnd(bar, context.now)) - left);
  const isBad = bar.state === "error" || bar.state === "denied" || bar.state === "interrupted";
  return (
    <button
      type="button"
      data-bar={bar.id}
      data-kind={bar.kind}
      data-seq={bar.seq}
      tabIndex={bar.id === context.tabId ? 0 : -1}
      aria-label={formatBarLabel(bar, context.now)}
      aria-pressed={bar.id === context.selectedId}
      onClick={() => context.onSelect(bar)}
      onFocus={() => context.onHover(bar)}
      onBlur={() => context.onHover(undefined)}
      onMouseEnter={() => context.onHover(bar)}
      onMouseLeave={() => context.onHover(undefined)}
      style={{ left: `${left * 100}%`, width: `max(6px, ${width * 100}%)` }}
      className="group absolute inset-y-0 flex items-center"
    >
      <span
        className={classNames(
          "block h-2.5 w-full rounded-[3px]",
          isBad ? "bg-bad" : barStyles[bar.kind],
          bar.state === "skipped" && "opacity-40",
          bar.state === "running" && "animate-pulse motion-reduce:animate-none",
          bar.id === context.selectedId &&
            "outline-2 outline-offset-1 outline-accent group-focus-visible:outline-0",
        )}
      />
      {bar.attempts > 1 && (
        <span aria-hidden="true" className="absolute -right-0.5 -top-0.5 size-1.5 rounded-full bg-warn" />
      )}
    </button>
  );
}

/** Label for screen readers. */
function formatBarLabel(bar: TimelineBar, now: number): string {
  const retries = bar.attempts > 1 ? `, ${bar.attempts} attempts` : "";
  const stateLabel = bar.state === "running" ? "running" : bar.state;
  return `${bar.kind} ${escapeBidi(bar.label)}, ${formatDuration(getBarEnd(bar, now) - bar.from)}, ${stateLabel}${retries}`;
}

function Mark({ mark, place }: { readonly mark: TimelineMark; readonly place: number }): ReactNode {
  return (
    <span
      title={escapeBidi(mark.label)}
      style={{ left: `min(${place * 100}%, calc(100% - 3px))` }}
      className={classNames(
        "absolute -inset-y-0.5 w-[3px] rounded-full ring-1 ring-paper",
        mark.isBad ? "bg-warn" : "bg-ink",
      )}
    />
  );
}
