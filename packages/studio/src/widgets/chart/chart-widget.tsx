import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { steadyText } from "../../markdown/visible-text.ts";
import { seriesVariable, useThemeColours } from "../theme-colors.ts";
import { TextAlternative, WidgetFrame } from "../widget-frame.tsx";
import type { ChartProps } from "../widget-props.ts";
import { chartOptions, dataOf, labelsOf, numberText } from "./chart-options.ts";

const height = 260;

/** Numbers as a picture, with the number under the pointer in words and all of them as a table. */
export function ChartWidget(props: ChartProps): ReactNode {
  const { title, series, x, unit, type } = props;
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [index, setIndex] = useState<number | undefined>();
  const labels = labelsOf(x);
  const toggle = (place: number): void =>
    setHidden(
      (now) => new Set(now.has(place) ? [...now].filter((other) => other !== place) : [...now, place]),
    );
  return (
    <WidgetFrame label={`${type[0]?.toUpperCase()}${type.slice(1)} chart`} title={title}>
      <div className="flex min-h-9 flex-wrap items-center gap-x-1 px-2 pt-1.5 text-xs">
        {series.map(({ label, color, values }, place) => (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: two series may have one name
            key={place}
            type="button"
            aria-pressed={!hidden.has(place)}
            onClick={() => toggle(place)}
            className="flex items-center gap-1.5 rounded px-1.5 py-0.5 text-quiet hover:bg-sunken aria-[pressed=false]:line-through aria-[pressed=false]:opacity-60"
          >
            <span
              aria-hidden="true"
              className="size-2.5 rounded-[3px]"
              style={{ background: color ?? seriesVariable(place) }}
            />
            {steadyText(label)}
            {index !== undefined && (
              <b className="font-medium text-ink tabular-nums">{numberText(values[index], unit)}</b>
            )}
          </button>
        ))}
        <span className="ml-auto px-1.5 text-faint tabular-nums" aria-live="polite">
          {index === undefined ? "" : labels[index]}
        </span>
      </div>
      <Plot chart={props} hidden={hidden} onIndex={setIndex} />
      <TextAlternative summary="The numbers as a table">
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
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const colours = useThemeColours();
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const size = { width: Math.max(element.clientWidth, 160), height };
    const made = new UPlot({ ...chartOptions(chart, colours, onIndex), ...size }, dataOf(chart), element);
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: Math.max(element.clientWidth, 160), height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [chart, colours, onIndex]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart made anew shows all of its series
  useEffect(() => {
    chart.series.forEach((_, index) => {
      plot.current?.setSeries(index + 1, { show: !hidden.has(index) });
    });
  }, [chart, colours, hidden]);
  return (
    <div
      ref={place}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move along the values
      tabIndex={0}
      aria-label={`${summary(chart)} Arrow keys move along the values.`}
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

function summary({ title, type, series, x }: ChartProps): string {
  const names = series.map(({ label }) => steadyText(label)).join(", ");
  return `${title === undefined ? "" : `${steadyText(title)}. `}${type} chart of ${names}, ${x.values.length} values each.`;
}

const mostRows = 1000;

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
              {steadyText(x.label ?? "")}
            </th>
            {series.map(({ label }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two series may have one name
              <th key={place} scope="col" className="py-1 pl-3 font-medium text-quiet">
                {steadyText(label)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.slice(0, mostRows).map((label, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two values may have one name
            <tr key={index} className="border-t">
              <th scope="row" className="py-1 pr-3 text-left font-normal">
                {label}
              </th>
              {series.map(({ values }, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two series may have one name
                <td key={place} className="py-1 pl-3">
                  {numberText(values[index], unit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {labels.length > mostRows && <p className="pt-2 text-faint">{labels.length - mostRows} rows more.</p>}
    </>
  );
}
