import UPlot from "uplot";
import { escapeBidi } from "../../ui/escape-text.ts";
import type { ThemeColors } from "../theme-colors.ts";
import type { ChartProps } from "../widget-props.ts";

type X = ChartProps["x"];

/** Text values, or numbers declared as categories. */
export function isCategory({ type, values }: X): boolean {
  return type === "category" || values.some((value) => typeof value === "string");
}

/** Returns the label of each value on the x axis. */
export function getLabels(x: X): readonly string[] {
  if (x.type !== "time") return x.values.map((value) => escapeBidi(String(value)));
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  // Numbers too large for a date stay numbers.
  return x.values.map((value) =>
    Math.abs(Number(value)) < 8.64e12 ? format.format(Number(value) * 1000) : String(value),
  );
}

/** Formats a value, with a dash for a missing one. */
export function formatValue(value: number | null | undefined, unit = ""): string {
  if (value === null || value === undefined) return "–";
  const text = new Intl.NumberFormat(undefined, { maximumFractionDigits: 4 }).format(value);
  return unit === "" ? text : `${text} ${escapeBidi(unit)}`;
}

/** Categories are placed at 0, 1, 2, …. */
export function toPlotData({ x, series }: ChartProps): UPlot.AlignedData {
  const positions = isCategory(x) ? x.values.map((_, index) => index) : x.values.map(Number);
  return [positions, ...series.map(({ values }) => [...values])];
}

/** Builds the uPlot options without the size. */
export function buildChartOptions(
  chart: ChartProps,
  colors: ThemeColors,
  onIndex: (index: number | undefined) => void,
): Omit<UPlot.Options, "width" | "height"> {
  const { x, series, type } = chart;
  const isBar = type === "bar";
  const count = x.values.length;
  const pad = isBar || isCategory(x) ? 0.5 : 0;
  const scale =
    isCategory(x) || isBar
      ? { range: createRange(x, pad), time: x.type === "time" }
      : { time: x.type === "time" };
  return {
    scales: {
      x: scale,
      // Bars and areas show amounts, so their axis starts at 0.
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
      createXAxis(chart, colors),
      { ...createAxis(colors), size: 56, values: (_, splits) => splits.map(formatCompactValue) },
    ],
    series: [{}, ...series.map((_, index) => createSeries(chart, colors, index))],
    hooks: { setCursor: [(plot) => onIndex(plot.cursor.idx ?? undefined)] },
    padding: [12, count > 0 ? 16 : 0, 0, 4],
  };
}

function createRange(x: X, pad: number): UPlot.Range.Function {
  const gap = isCategory(x) || x.values.length < 2 ? 1 : Number(x.values[1]) - Number(x.values[0]);
  return (_, low, high) => [low - pad * gap, high + pad * gap];
}

const axisFont = '11px "Inter Variable", system-ui, sans-serif';
/** Tick steps for axes with only integers. */
const integerSteps = Array.from(
  { length: 48 },
  (_, at) => ([1, 2, 5][at % 3] ?? 1) * 10 ** Math.floor(at / 3),
);

function createAxis({ quiet, line }: ThemeColors): UPlot.Axis {
  return {
    stroke: quiet,
    font: axisFont,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  };
}

function createXAxis({ x }: ChartProps, colors: ThemeColors): UPlot.Axis {
  const labelOptions =
    x.label === undefined
      ? {}
      : { label: truncateLabel(escapeBidi(x.label)), labelSize: 20, labelFont: axisFont, labelGap: 2 };
  const axis = { ...createAxis(colors), grid: { show: false }, space: 64, size: 30, ...labelOptions };
  const isWhole = !isCategory(x) && x.values.every((value) => Number.isInteger(value));
  if (!isCategory(x) && x.type === "time") return axis;
  if (!isCategory(x))
    return {
      ...axis,
      ...(isWhole && { incrs: integerSteps }),
      values: (_, splits) => splits.map(formatCompactValue),
    };
  const labels = getLabels(x);
  const formatSplit = (split: number): string =>
    Number.isInteger(split) ? truncateLabel(labels[split] ?? "") : "";
  return {
    ...axis,
    incrs: integerSteps,
    values: (_, splits) => splits.map(formatSplit),
  };
}

function createSeries({ series, type }: ChartProps, colors: ThemeColors, index: number): UPlot.Series {
  const { label = "", color } = series[index] ?? {};
  const stroke = color ?? colors.series[index % colors.series.length] ?? colors.accent;
  if (type === "bar")
    return {
      label,
      stroke,
      fill: `${stroke}cc`,
      width: 0,
      paths: createBarPaths(series.length, index),
      points: { show: false },
    };
  return { label, stroke, width: 2, ...(type === "area" && { fill: `${stroke}2e` }) };
}

/** Draws the bars of several series side by side. */
function createBarPaths(count: number, index: number): UPlot.Series.PathBuilder {
  const share = Math.min(0.72, 0.4 + 0.1 * count) / count;
  return (...[plot, seriesIndex, from, to]) => drawBars({ plot, seriesIndex, from, to, share, index, count });
}

type BarLayout = {
  readonly plot: UPlot;
  readonly seriesIndex: number;
  readonly from: number;
  readonly to: number;
  readonly share: number;
  readonly index: number;
  readonly count: number;
};

function drawBars({ plot, seriesIndex, from, to, share, index, count }: BarLayout): UPlot.Series.Paths {
  const path = new Path2D();
  const [positions, values] = [plot.data[0], plot.data[seriesIndex] ?? []];
  const gap = positions.length > 1 ? (positions[1] ?? 1) - (positions[0] ?? 0) : 1;
  const zero = plot.valToPos(0, "y", true);
  for (let valueIndex = from; valueIndex <= to; valueIndex += 1) {
    const value = values[valueIndex];
    if (value === null || value === undefined) continue;
    const start = (positions[valueIndex] ?? 0) + gap * share * (index - count / 2);
    const left = plot.valToPos(start, "x", true);
    const width = plot.valToPos(start + gap * share * 0.92, "x", true) - left;
    const top = plot.valToPos(value, "y", true);
    path.rect(left, Math.min(top, zero), width, Math.abs(zero - top));
  }
  return { fill: path, stroke: null } as UPlot.Series.Paths;
}

const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 2 });
const formatCompactValue = (value: number): string => compact.format(value);
const truncateLabel = (text: string): string => (text.length > 14 ? `${text.slice(0, 13)}…` : text);
