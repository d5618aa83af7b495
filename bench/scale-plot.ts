// Plots throughput over workers on logarithmic axes: simulated lines, measured points.

export type PlotSeries = {
  readonly title: string;
  readonly line: readonly Point[];
  readonly points: readonly Point[];
};
export type Point = { readonly workers: number; readonly stepsPerSecond: number };

const size = { width: 720, height: 420, left: 70, right: 20, top: 80, bottom: 60 };
const colors = ["#0a7d4f", "#3b82c4", "#b0762b", "#9a5bb5"];

export function createScalePlot(series: readonly PlotSeries[], cores: number): string {
  const all = series.flatMap(({ line, points }) => [...line, ...points]);
  const workers = [...new Set(all.map((point) => point.workers))].toSorted((left, right) => left - right);
  const rates = all.map(({ stepsPerSecond }) => stepsPerSecond);
  const minRate = 10 ** Math.floor(Math.log10(Math.min(...rates)));
  const maxRate = 10 ** Math.ceil(Math.log10(Math.max(...rates)));
  const maxWorkers = workers.at(-1) ?? 1;
  const [spanX, spanY] = [size.width - size.left - size.right, size.height - size.top - size.bottom];
  const x = (count: number) => size.left + (spanX * Math.log(count)) / Math.log(maxWorkers);
  const y = (rate: number) => size.top + spanY * (1 - Math.log(rate / minRate) / Math.log(maxRate / minRate));
  const place = ({ workers: count, stepsPerSecond }: Point) =>
    `${x(count).toFixed(1)},${y(stepsPerSecond).toFixed(1)}`;
  const ticks: number[] = [];
  for (let rate = minRate; rate <= maxRate; rate *= 10) ticks.push(rate);
  const end = size.height - size.bottom;
  const grid = [
    ...ticks.map(
      (rate) =>
        `<line class="grid" x1="${size.left}" x2="${size.width - size.right}" y1="${y(rate).toFixed(1)}" y2="${y(rate).toFixed(1)}"/><text class="rate" x="${size.left - 8}" y="${(y(rate) + 4).toFixed(1)}">${rate.toLocaleString("en-US")}</text>`,
    ),
    ...workers.map(
      (count) => `<text class="tick" x="${x(count).toFixed(1)}" y="${end + 20}">${count}</text>`,
    ),
  ];
  const marks = series.flatMap(({ title, line, points }, index) => {
    const color = colors[index % colors.length];
    const left = 20 + (index * (size.width - 40)) / series.length;
    return [
      `<polyline fill="none" stroke="${color}" stroke-width="2" points="${line.map(place).join(" ")}"/>`,
      ...points.map((point) => {
        const [cx, cy] = place(point).split(",");
        return `<circle cx="${cx}" cy="${cy}" r="5" fill="${color}"><title>${title}, measured: ${point.stepsPerSecond.toFixed(0)}</title></circle>`;
      }),
      `<line x1="${left}" x2="${left + 22}" y1="54" y2="54" stroke="${color}" stroke-width="2"/><circle cx="${left + 11}" cy="54" r="5" fill="${color}"/><text x="${left + 30}" y="58">${title}</text>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="Steps per second over the number of workers: simulated lines, and points measured on ${cores} cores">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.tick { text-anchor: middle; } .rate { text-anchor: end; } .title { font-size: 15px; font-weight: 600; }
.grid { stroke: #d0d7de; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .grid { stroke: #3d444d; } }
</style>
<text class="title" x="20" y="26">Steps per second: lines are simulated, points are measured on ${cores} cores</text>
${[...grid, ...marks].join("\n")}
<text class="tick" x="${(size.left + spanX / 2).toFixed(1)}" y="${end + 44}">workers</text>
</svg>
`;
}
