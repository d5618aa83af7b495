// Tables and charts of tool results, as static HTML. The props come from a tool: everything is checked and escaped.

import { formatCount } from "../base/format-count.ts";
import { isRecord, type Json } from "../base/json.ts";
import type { UiHint } from "../kernel/history.ts";
import { renderTable } from "./html-markdown.ts";
import { escapeHtml } from "./html-text.ts";

const maxRows = 200;
const maxColumns = 30;
const maxSeries = 6;
const maxPoints = 500;

/** Renders the hint of a result; undefined if a page cannot show it. */
export function renderWidget({ kind, props }: UiHint): string | undefined {
  if (!isRecord(props)) return undefined;
  const body = kind === "table" ? renderRows(props) : kind === "chart" ? renderChart(props) : undefined;
  if (body === undefined) return undefined;
  const caption =
    typeof props.title === "string" ? `<figcaption>${escapeHtml(props.title)}</figcaption>` : "";
  return `<figure>${caption}${body}</figure>`;
}

type Props = { readonly [key: string]: unknown };

function renderRows({ columns, rows }: Props): string | undefined {
  if (!Array.isArray(rows)) return undefined;
  const records = rows.filter(isRecord);
  const given = Array.isArray(columns) ? columns.filter(isRecord) : undefined;
  const keys = given?.map(({ key }) => String(key)) ?? [
    ...new Set(records.slice(0, maxRows).flatMap((row) => Object.keys(row))),
  ];
  const labels = given?.map(({ key, label }) => String(label ?? key)) ?? keys;
  const shown = records
    .slice(0, maxRows)
    .map((row) => keys.slice(0, maxColumns).map((key) => formatCell(row[key] as Json | undefined)));
  return `${renderTable(labels.slice(0, maxColumns), shown, escapeHtml)}${formatOmitted(records.length)}`;
}

function formatCell(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function formatOmitted(count: number): string {
  return count > maxRows ? `<p class="small">${formatCount(count - maxRows, "more row")}</p>` : "";
}

type Series = { readonly label: string; readonly values: readonly (number | null)[] };

function renderChart({ type, x, series }: Props): string | undefined {
  const values = isRecord(x) && Array.isArray(x.values) ? x.values.slice(0, maxPoints) : undefined;
  if (!values || !Array.isArray(series)) return undefined;
  const lines = series.filter(isSeries).slice(0, maxSeries);
  if (lines.length === 0 || values.length === 0) return undefined;
  const labels = values.map((value) => formatX(value, x as Props));
  const rows = labels.map((label, index) => [label, ...lines.map((line) => formatCell(line.values[index]))]);
  const table = renderTable(["", ...lines.map(({ label }) => label)], rows.slice(0, maxRows), escapeHtml);
  const keys = lines.map(({ label }, index) => `<span class="key c${index}">${escapeHtml(label)}</span>`);
  const note = `<p class="small">${keys.join(" ")} · ${escapeHtml(formatAxisRange(labels, lines))}</p>`;
  const details = `<details><summary>Values</summary>${table}${formatOmitted(rows.length)}</details>`;
  return `${drawChart(lines, values.length, type === "bar")}${note}${details}`;
}

/** Says what the axes would: the first and the last label, and the smallest and the largest value. */
function formatAxisRange(labels: readonly string[], lines: readonly Series[]): string {
  const numbers = lines.flatMap(({ values }) => values.slice(0, labels.length).filter(isNumber));
  const range = `${labels[0]} to ${labels.at(-1)}`;
  return numbers.length === 0 ? range : `${range}, from ${Math.min(...numbers)} to ${Math.max(...numbers)}`;
}

function isSeries(value: unknown): value is Series {
  return isRecord(value) && typeof value.label === "string" && Array.isArray(value.values);
}

function formatX(value: unknown, { type }: Props): string {
  if (type !== "time" || typeof value !== "number") return String(value);
  const date = new Date(value * 1_000);
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().slice(0, 16).replace("T", " ");
}

const width = 640;
const height = 200;

/** The values as lines or bars. Only numbers of ours reach the attributes. */
function drawChart(lines: readonly Series[], count: number, isBar: boolean): string {
  const numbers = lines.flatMap(({ values }) => values.slice(0, count).filter(isNumber));
  const low = Math.min(0, ...numbers);
  const high = Math.max(0, ...numbers);
  const toY = (value: number) => roundTenth(height - ((value - low) / (high - low || 1)) * height);
  const step = width / count;
  const shapes = lines.map(({ values }, series) => {
    const shown = values.slice(0, count);
    if (!isBar)
      return drawLine(
        shown.map((value, index) => [roundTenth((index + 0.5) * step), value]),
        toY,
        series,
      );
    const barWidth = (step * 0.8) / lines.length;
    return shown
      .map((value, index) => {
        if (!isNumber(value)) return "";
        const left = roundTenth(index * step + step * 0.1 + series * barWidth);
        const [top, bottom] = [Math.min(toY(value), toY(0)), Math.max(toY(value), toY(0))];
        return `<rect class="c${series}" x="${left}" y="${top}" width="${roundTenth(barWidth)}" height="${roundTenth(bottom - top)}"/>`;
      })
      .join("");
  });
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Chart">${shapes.join("")}<line class="axis" x1="0" y1="${toY(0)}" x2="${width}" y2="${toY(0)}"/></svg>`;
}

function drawLine(
  points: readonly (readonly [number, number | null | undefined])[],
  toY: (value: number) => number,
  series: number,
): string {
  const shown = points.flatMap(([x, value]) => (isNumber(value) ? [`${x},${toY(value)}`] : []));
  return `<polyline class="c${series}" points="${shown.join(" ")}"/>`;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

const roundTenth = (value: number): number => Math.round(value * 10) / 10;
