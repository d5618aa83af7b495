import { formatCount } from "capstan/sessions";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { escapeBidi } from "../../ui/escape-text.ts";
import { getSeriesVariable, useThemeColors } from "../theme-colors.ts";
import { TextAlternative, WidgetFrame } from "../widget-frame.tsx";
import type { ChartProps } from "../widget-props.ts";
import { buildChartOptions, formatValue, getLabels, toPlotData } from "./chart-options.ts";

const height = 260;

/** A chart with a readout for the hovered value and a table of all values. */
export function ChartWidget(props: ChartProps): ReactNode {
  const { title, series, x, unit, type } = props;
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [index, setIndex] = useState<number | undefined>();
  const labels = getLabels(x);
  const toggle = (seriesIndex: number): void =>
    setHidden(
      (hiddenNow) =>
        new Set(
          hiddenNow.has(seriesIndex)
            ? [...hiddenNow].filter((other) => other !== seriesIndex)
            : [...hiddenNow, seriesIndex],
        ),
    );
  return (
    <WidgetFrame label={`${type[0]?.toUpperCase()}${type.slice(1)} chart`} title={title}>
      <div className="flex min-h-9 flex-wrap items-center gap-x-1 px-2 pt-1.5 text-xs">
        {series.map(({ label, color, values }, seriesIndex) => (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: series names are not unique
            key={seriesIndex}
            type="button"
            aria-pressed={!hidden.has(seriesIndex)}
            onClick={() => toggle(seriesIndex)}
            className="flex items-center gap-1.5 rounded px-1.5 py-0.5 pointer-coarse:min-h-11 pointer-coarse:min-w-11 text-quiet hover:bg-sunken aria-[pressed=false]:line-through aria-[pressed=false]:opacity-60"
          >
            <span
              aria-hidden="true"
              className="size-2.5 rounded-[3px]"
              style={{ background: color ?? getSeriesVariable(seriesIndex) }}
            />
            {escapeBidi(label)}
            {index !== undefined && (
              <b className="font-medium text-ink tabular-nums">{formatValue(values[index], unit)}</b>
            )}
          </button>
        ))}
        <span className="ml-auto px-1.5 text-faint tabular-nums" aria-live="polite">
          {index === undefined ? "" : labels[index]}
        </span>
      </div>
      <Plot chart={props} hidden={hidden} onIndex={setIndex} />
      <TextAlternative summary="Data table">
        <ChartTable chart={props} labels={labels} />
      </TextAlternative>
    </WidgetFrame>
  );
}

type PlotProps = {
  readonly chart: ChartProps;
  readonly hidden: ReadonlySet<number>;
  readonly onIndex: (index: number | undefined) => void;
};

function Plot({ chart, hidden, onIndex }: PlotProps): ReactNode {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const colors = useThemeColors();
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const size = { width: Math.max(element.clientWidth, 160), height };
    const created = new UPlot(
      { ...buildChartOptions(chart, colors, onIndex), ...size },
      toPlotData(chart),
      element,
    );
    plot.current = created;
    const observer = new ResizeObserver(() =>
      created.setSize({ width: Math.max(element.clientWidth, 160), height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [chart, colors, onIndex]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new chart shows all series
  useEffect(() => {
    chart.series.forEach((_, index) => {
      plot.current?.setSeries(index + 1, { show: !hidden.has(index) });
    });
  }, [chart, colors, hidden]);
  return (
    <div
      ref={container}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move along the values
      tabIndex={0}
      aria-label={`${formatSummary(chart)} Arrow keys move along the values.`}
      onKeyDown={(event) => moveCursor(event, plot.current)}
      className="px-1 pb-1"
      style={{ height: height + 4 }}
    />
  );
}

function moveCursor(event: KeyboardEvent, plot: UPlot | null): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!plot || step === undefined) return;
  event.preventDefault();
  const values = plot.data[0];
  const index = Math.min(
    Math.max((plot.cursor.idx ?? (step > 0 ? -1 : values.length)) + step, 0),
    values.length - 1,
  );
  plot.setCursor({ left: plot.valToPos(values[index] ?? 0, "x"), top: plot.over.clientHeight / 2 });
}

function formatSummary({ title, type, series, x }: ChartProps): string {
  const names = series.map(({ label }) => escapeBidi(label)).join(", ");
  return `${title === undefined ? "" : `${escapeBidi(title)}. `}${type} chart of ${names}, ${formatCount(x.values.length, "value")} each.`;
}

const maxRows = 1000;

function ChartTable({
  chart,
  labels,
}: {
  readonly chart: ChartProps;
  readonly labels: readonly string[];
}): ReactNode {
  const { series, x, unit } = chart;
  return (
    <>
      <table className="w-full border-collapse text-right tabular-nums">
        <thead>
          <tr>
            <th scope="col" className="py-1 pr-3 text-left font-medium text-quiet">
              {escapeBidi(x.label ?? "")}
            </th>
            {series.map(({ label }, seriesIndex) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: series names are not unique
              <th key={seriesIndex} scope="col" className="py-1 pl-3 font-medium text-quiet">
                {escapeBidi(label)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.slice(0, maxRows).map((label, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: labels are not unique
            <tr key={index} className="border-t">
              <th scope="row" className="py-1 pr-3 text-left font-normal">
                {label}
              </th>
              {series.map(({ values }, seriesIndex) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: series names are not unique
                <td key={seriesIndex} className="py-1 pl-3">
                  {formatValue(values[index], unit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {labels.length > maxRows && <p className="pt-2 text-faint">{labels.length - maxRows} more rows.</p>}
    </>
  );
}
