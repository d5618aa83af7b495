import type { NamedTotals, RunStatistics } from "capstan";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatCompactNumber, formatDollars } from "../inspector/format-facts.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { buildChartOptions, getLabels, toPlotData } from "../widgets/chart/chart-options.ts";
import { getSeriesVariable, useThemeColors } from "../widgets/theme-colors.ts";
import type { ChartProps } from "../widgets/widget-props.ts";
import { getRange, type RunView } from "./run-view.ts";
import { useIsWide } from "./use-is-wide.ts";

type RunPlotsProps = {
  readonly statistics: RunStatistics;
  readonly view: RunView;
  readonly onChange: (change: Partial<RunView>) => void;
};

/** Cost, latency and errors over time, and totals per agent, model and tool. */
export function RunPlots({ statistics, view, onChange }: RunPlotsProps): ReactNode {
  const { total, agents, models, tools } = statistics;
  const plots = useMemo(() => buildPlots(statistics, view.range), [statistics, view.range]);
  const share = total.runs === 0 ? 0 : total.failed / total.runs;
  const latency = total.p50Ms === undefined ? "–" : formatDuration(total.p50Ms);
  const isWide = useIsWide();
  const lists = (
    <div className="mt-3 grid gap-3 lg:grid-cols-3">
      <TotalsList
        title="Agents"
        totals={agents}
        chosen={view.agent}
        onChoose={(agent) => onChange({ agent })}
      />
      <TotalsList
        title="Models"
        totals={models}
        chosen={view.model}
        onChoose={(model) => onChange({ model })}
      />
      <TotalsList title="Tools" totals={tools} chosen={view.tool} onChoose={(tool) => onChange({ tool })} />
    </div>
  );
  return (
    <>
      <PlotRow isWide={isWide}>
        <SmallPlot
          title="Cost"
          figure={formatDollars(total.cost)}
          format={formatDollars}
          chart={plots.cost}
        />
        <SmallPlot
          title="Latency"
          figure={`${latency} median`}
          format={formatDuration}
          chart={plots.latency}
        />
        <SmallPlot
          title="Runs"
          figure={`${formatCompactNumber(total.runs)}, ${(share * 100).toFixed(share === 0 ? 0 : 1)} % failed`}
          format={formatCompactNumber}
          chart={plots.runs}
        />
      </PlotRow>
      {isWide ? (
        lists
      ) : (
        <details className="mt-3 text-sm">
          <summary className="cursor-pointer py-1 text-quiet">By agent, model and tool</summary>
          {lists}
        </details>
      )}
    </>
  );
}

type PlotRowProps = { readonly isWide: boolean; readonly children: ReactNode };

/** The plots side by side; on a phone, a part of the next one shows that they can be scrolled. */
function PlotRow({ isWide, children }: PlotRowProps): ReactNode {
  if (isWide) return <div className="grid grid-cols-3 gap-3">{children}</div>;
  return (
    <ScrollRegion
      label="Plots"
      className="flex snap-x gap-3 overflow-x-auto pb-1 [&>figure]:w-[85%] [&>figure]:shrink-0 [&>figure]:snap-start"
    >
      {children}
    </ScrollRegion>
  );
}

/** The periods of a range of time, also those without runs. */
function listPeriods({ buckets }: RunStatistics, range: string): readonly number[] {
  const { ms, bucketMs } = getRange(range);
  const last = Math.floor(Date.now() / bucketMs) * bucketMs;
  const first = Number.isFinite(ms)
    ? Math.floor((Date.now() - ms) / bucketMs) * bucketMs
    : (buckets[0]?.at ?? last);
  const count = Math.min(Math.round((last - first) / bucketMs) + 1, 1_000);
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * bucketMs);
}

function buildPlots(
  statistics: RunStatistics,
  range: string,
): Readonly<Record<"cost" | "latency" | "runs", ChartProps>> {
  const periods = listPeriods(statistics, range);
  const byTime = new Map(statistics.buckets.map((bucket) => [bucket.at, bucket]));
  const x = { type: "time", values: periods.map((at) => at / 1_000) } as const;
  type Bucket = RunStatistics["buckets"][number];
  const read = (value: (bucket: Bucket) => number | undefined, missing: number | null) =>
    periods.map((at) => {
      const bucket = byTime.get(at);
      return bucket ? (value(bucket) ?? missing) : missing;
    });
  return {
    cost: { type: "bar", x, series: [{ label: "Cost", values: read(({ cost }) => cost, 0) }] },
    latency: {
      ...{ type: "bar", x },
      series: [
        { label: "Median", values: read(({ p50Ms }) => p50Ms, null) },
        { label: "95 %", values: read(({ p95Ms }) => p95Ms, null) },
      ],
    },
    runs: {
      ...{ type: "bar", x },
      series: [
        { label: "Runs", values: read(({ runs }) => runs, 0) },
        { label: "Failed", values: read(({ failed }) => failed, 0) },
      ],
    },
  };
}

/** Formats a time on the axis: the hour in a short range, otherwise the day. */
function createTimeFormat({ x: { values } }: ChartProps): (seconds: number) => string {
  const span = Number(values.at(-1) ?? 0) - Number(values[0] ?? 0);
  const format = new Intl.DateTimeFormat(
    "en-GB",
    span > 2 * 86_400 ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" },
  );
  return (seconds) => format.format(seconds * 1_000);
}

const plotHeight = 120;

type SmallPlotProps = {
  readonly title: string;
  /** The total of the range. */
  readonly figure: string;
  readonly format: (value: number) => string;
  readonly chart: ChartProps;
};

function SmallPlot({ title, figure, format, chart }: SmallPlotProps): ReactNode {
  const container = useRef<HTMLDivElement>(null);
  const colors = useThemeColors();
  const [index, setIndex] = useState<number>();
  const isEmpty = chart.series.every(({ values }) => values.every((value) => !value));
  useEffect(() => {
    const element = container.current;
    if (!element || isEmpty) return;
    const options = buildChartOptions(chart, colors, setIndex);
    const [xAxis, yAxis] = options.axes ?? [];
    const axes = [
      { ...xAxis, size: 24, values: (_: UPlot, splits: number[]) => splits.map(createTimeFormat(chart)) },
      {
        ...yAxis,
        size: 52,
        space: 32,
        values: (_: UPlot, splits: number[]) =>
          splits.map((split) => (split < 0 ? "" : split === 0 ? "0" : format(split))),
      },
    ];
    const measure = () => ({ width: Math.max(element.clientWidth, 120), height: plotHeight });
    const plot = new UPlot(
      { ...options, axes, padding: [8, 8, 0, 0], ...measure() },
      toPlotData(chart),
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize(measure()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [chart, colors, format, isEmpty]);
  const labels = useMemo(() => getLabels(chart.x), [chart]);
  const names = chart.series.map(({ label }) => label).join(" and ");
  return (
    <figure className="min-w-0 rounded-lg border bg-raised px-3 pb-1 pt-2">
      <figcaption className="flex items-baseline justify-between gap-2 text-sm">
        <span className="font-medium">{title}</span>
        <span className="truncate text-xs tabular-nums text-quiet">
          {index === undefined ? figure : labels[index]}
        </span>
      </figcaption>
      <div className="flex h-5 gap-3 text-xs text-quiet">
        {chart.series.length > 1 &&
          chart.series.map(({ label, values }, seriesIndex) => (
            <span key={label} className="flex items-center gap-1.5 tabular-nums">
              <span
                aria-hidden="true"
                className="size-2 rounded-[2px]"
                style={{ background: getSeriesVariable(seriesIndex) }}
              />
              {label} {formatAt(values, index, format)}
            </span>
          ))}
        {chart.series.length === 1 && index !== undefined && (
          <span className="tabular-nums">{formatAt(chart.series[0]?.values ?? [], index, format)}</span>
        )}
      </div>
      <div
        ref={container}
        role="img"
        aria-label={`${title} over time: ${names}. ${figure}.`}
        style={{ height: plotHeight }}
        className="grid items-center"
      >
        {isEmpty && <p className="text-center text-xs text-quiet">None in this time.</p>}
      </div>
    </figure>
  );
}

function formatAt(
  values: readonly (number | null)[],
  index: number | undefined,
  format: (value: number) => string,
): string {
  const value = index === undefined ? undefined : values[index];
  return value === undefined || value === null ? "" : format(value);
}

const maxNames = 5;

type TotalsListProps = {
  readonly title: string;
  readonly totals: readonly NamedTotals[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
};

/** The totals of each name, as bars. A click shows only its runs, another one all. */
function TotalsList({ title, totals, chosen, onChoose }: TotalsListProps): ReactNode {
  const hasCost = totals.some(({ cost }) => cost > 0);
  const getSize = ({ cost, runs }: NamedTotals) => (hasCost ? cost : runs);
  const largest = Math.max(...totals.map(getSize), Number.MIN_VALUE);
  return (
    <section className="min-w-0 rounded-lg border bg-raised px-3 py-2">
      <h2 className="flex justify-between text-sm font-medium">
        {title}
        <span className="text-xs font-normal text-quiet">{hasCost ? "cost" : "runs"}</span>
      </h2>
      {totals.length === 0 && <p className="py-2 text-xs text-quiet">None in this time.</p>}
      <ul className="mt-1 grid gap-0.5">
        {totals.slice(0, maxNames).map((total) => (
          <li key={total.name}>
            <button
              type="button"
              aria-pressed={chosen === total.name}
              title={formatTotals(total)}
              onClick={() => onChoose(chosen === total.name ? "" : total.name)}
              className="relative flex h-7 w-full items-center gap-2 overflow-hidden rounded px-2 text-left text-xs hover:bg-sunken aria-pressed:font-semibold"
            >
              <span
                aria-hidden="true"
                className="absolute inset-y-0.5 left-0 rounded bg-accent-soft"
                style={{ width: `${Math.max((getSize(total) / largest) * 100, 1)}%` }}
              />
              <span className="relative min-w-0 flex-1 truncate">{escapeBidi(total.name)}</span>
              {total.failed > 0 && <span className="relative shrink-0 text-bad">{total.failed} failed</span>}
              <span className="relative shrink-0 tabular-nums text-quiet">
                {hasCost ? formatDollars(total.cost) : formatCompactNumber(total.runs)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function formatTotals({ runs, failed, cost, tokens }: NamedTotals): string {
  return `${formatCompactNumber(runs)} ${runs === 1 ? "run" : "runs"}, ${failed} failed, ${formatCompactNumber(tokens)} tokens, ${formatDollars(cost)}`;
}
