import UPlot from "uplot";
import { steadyText } from "../../markdown/visible-text.ts";
import type { ThemeColours } from "../theme-colors.ts";
import type { ChartProps } from "../widget-props.ts";

type X = ChartProps["x"];

/** Texts are categories, and so are numbers that say so. */
export function isCategory({ type, values }: X): boolean {
  return type === "category" || values.some((value) => typeof value === "string");
}

/** What each place on the axis is called. */
export function labelsOf(x: X): readonly string[] {
  if (x.type !== "time") return x.values.map((value) => steadyText(String(value)));
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  // A number too large for a date is shown as the number it is.
  return x.values.map((value) =>
    Math.abs(Number(value)) < 8.64e12 ? format.format(Number(value) * 1000) : String(value),
  );
}

/** A value as people read it; a dash where there is none. */
export function numberText(value: number | null | undefined, unit = ""): string {
  if (value === null || value === undefined) return "–";
  const text = new Intl.NumberFormat(undefined, { maximumFractionDigits: 4 }).format(value);
  return unit === "" ? text : `${text} ${steadyText(unit)}`;
}

/** Categories stand at 0, 1, 2, …. */
export function dataOf({ x, series }: ChartProps): UPlot.AlignedData {
  const places = isCategory(x) ? x.values.map((_, index) => index) : x.values.map(Number);
  return [places, ...series.map(({ values }) => [...values])];
}

/** How the chart is drawn, without its size. */
export function chartOptions(
  chart: ChartProps,
  colours: ThemeColours,
  onIndex: (index: number | undefined) => void,
): Omit<UPlot.Options, "width" | "height"> {
  const { x, series, type } = chart;
  const isBar = type === "bar";
  const count = x.values.length;
  const pad = isBar || isCategory(x) ? 0.5 : 0;
  const scale =
    isCategory(x) || isBar ? { range: edges(x, pad), time: x.type === "time" } : { time: x.type === "time" };
  return {
    scales: {
      x: scale,
      // Bars and areas stand for amounts: they begin at nothing.
      y: {
        range: (_, low, high) =>
          UPlot.rangeNum(
            type === "line" ? low : Math.min(low, 0),
            Math.max(high, low === high ? high + 1 : high),
            0.1,
            true,
          ),
      },
    },
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 8 } },
    axes: [
      xAxis(chart, colours),
      { ...axisLook(colours), size: 56, values: (_, splits) => splits.map(short) },
    ],
    series: [{}, ...series.map((_, index) => seriesOf(chart, colours, index))],
    hooks: { setCursor: [(plot) => onIndex(plot.cursor.idx ?? undefined)] },
    padding: [12, count > 0 ? 16 : 0, 0, 4],
  };
}

function edges(x: X, pad: number): UPlot.Range.Function {
  const gap = isCategory(x) || x.values.length < 2 ? 1 : Number(x.values[1]) - Number(x.values[0]);
  return (_, low, high) => [low - pad * gap, high + pad * gap];
}

const axisFont = '11px "Inter Variable", system-ui, sans-serif';
/** Between two values that are whole there is nothing to name. */
const wholeSteps = Array.from({ length: 48 }, (_, at) => ([1, 2, 5][at % 3] ?? 1) * 10 ** Math.floor(at / 3));

function axisLook({ quiet, line }: ThemeColours): UPlot.Axis {
  return {
    stroke: quiet,
    font: axisFont,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  };
}

function xAxis({ x }: ChartProps, colours: ThemeColours): UPlot.Axis {
  const named =
    x.label === undefined
      ? {}
      : { label: clipped(steadyText(x.label)), labelSize: 20, labelFont: axisFont, labelGap: 2 };
  const look = { ...axisLook(colours), grid: { show: false }, space: 64, size: 30, ...named };
  const isWhole = !isCategory(x) && x.values.every((value) => Number.isInteger(value));
  if (!isCategory(x) && x.type === "time") return look;
  if (!isCategory(x))
    return { ...look, ...(isWhole && { incrs: wholeSteps }), values: (_, splits) => splits.map(short) };
  const labels = labelsOf(x);
  const name = (split: number): string => (Number.isInteger(split) ? clipped(labels[split] ?? "") : "");
  return {
    ...look,
    incrs: wholeSteps,
    values: (_, splits) => splits.map(name),
  };
}

function seriesOf({ series, type }: ChartProps, colours: ThemeColours, index: number): UPlot.Series {
  const { label = "", color } = series[index] ?? {};
  const stroke = color ?? colours.series[index % colours.series.length] ?? colours.accent;
  if (type === "bar")
    return {
      label,
      stroke,
      fill: `${stroke}cc`,
      width: 0,
      paths: barsOf(series.length, index),
      points: { show: false },
    };
  return { label, stroke, width: 2, ...(type === "area" && { fill: `${stroke}2e` }) };
}

/** The bars of several series stand side by side: each takes its share of the room of a value. */
function barsOf(count: number, index: number): UPlot.Series.PathBuilder {
  const share = Math.min(0.72, 0.4 + 0.1 * count) / count;
  return (...[plot, seriesIndex, from, to]) =>
    sideBySide({ plot, seriesIndex, from, to, share, index, count });
}

type SideBySide = {
  readonly plot: UPlot;
  readonly seriesIndex: number;
  readonly from: number;
  readonly to: number;
  readonly share: number;
  readonly index: number;
  readonly count: number;
};

function sideBySide({ plot, seriesIndex, from, to, share, index, count }: SideBySide): UPlot.Series.Paths {
  const path = new Path2D();
  const [places, values] = [plot.data[0], plot.data[seriesIndex] ?? []];
  const gap = places.length > 1 ? (places[1] ?? 1) - (places[0] ?? 0) : 1;
  const zero = plot.valToPos(0, "y", true);
  for (let place = from; place <= to; place += 1) {
    const value = values[place];
    if (value === null || value === undefined) continue;
    const start = (places[place] ?? 0) + gap * share * (index - count / 2);
    const left = plot.valToPos(start, "x", true);
    const width = plot.valToPos(start + gap * share * 0.92, "x", true) - left;
    const top = plot.valToPos(value, "y", true);
    path.rect(left, Math.min(top, zero), width, Math.abs(zero - top));
  }
  return { fill: path, stroke: null } as UPlot.Series.Paths;
}

const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 2 });
const short = (value: number): string => compact.format(value);
const clipped = (text: string): string => (text.length > 14 ? `${text.slice(0, 13)}…` : text);
