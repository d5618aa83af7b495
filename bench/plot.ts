// Plots the ratios: one row per work, one dot per framework, the floor at 1, on a logarithmic axis.
import { computeRatio } from "./compare.ts";
import type { Results } from "./rounds.ts";
import { works } from "./works.ts";

const colors: Readonly<Record<string, string>> = {
  capstan: "#0a7d4f",
  "ai-sdk": "#8a8f98",
  "openai-agents": "#3b82c4",
  mastra: "#b0762b",
  langgraph: "#9a5bb5",
  strands: "#c4573b",
  pi: "#5b8f8f",
};
const size = { width: 860, margin: 20, left: 230, right: 30, top: 70, row: 34, bottom: 44 };
const ticks = [0.5, 1, 2, 5, 10, 20, 50];

export function createPlot(results: Results): string {
  const rivals = results.plan.peers.filter(({ name }) => name !== "floor");
  const rows = works.filter(({ name }) => results.plan.works.includes(name));
  const ratios = rows.map(({ name: work }) =>
    rivals.flatMap(({ name: peer }) => {
      const ratio = computeRatio(results, { peer, work })?.middle;
      return ratio === undefined ? [] : [{ peer, ratio }];
    }),
  );
  const maxRatio = Math.max(2, ...ratios.flat().map(({ ratio }) => ratio)) * 1.1;
  const minRatio = Math.min(0.8, ...ratios.flat().map(({ ratio }) => ratio * 0.9));
  const span = size.width - size.left - size.right;
  const x = (ratio: number) =>
    size.left + (span * Math.log(ratio / minRatio)) / Math.log(maxRatio / minRatio);
  const height = size.top + rows.length * size.row + size.bottom;
  const y = (row: number) => size.top + (row + 0.5) * size.row;
  const end = height - size.bottom;

  const grid = ticks
    .filter((tick) => tick >= minRatio && tick <= maxRatio)
    .map(
      (tick) =>
        `<line class="${tick === 1 ? "floor" : "grid"}" x1="${x(tick).toFixed(1)}" x2="${x(tick).toFixed(1)}" y1="${size.top - 6}" y2="${end}"/><text class="tick" x="${x(tick).toFixed(1)}" y="${end + 16}">${tick}×</text>`,
    );
  const labels = rows.map(
    ({ title }, row) => `<text class="row" x="${size.left - 14}" y="${y(row) + 4}">${title}</text>`,
  );
  const dots = ratios.flatMap((row, index) =>
    // Capstan last, so that it is drawn on top.
    row.toReversed().map(({ peer, ratio }) => {
      const radius = peer === "capstan" ? 7.5 : 5;
      return `<circle cx="${x(ratio).toFixed(1)}" cy="${y(index)}" r="${radius}" fill="${colors[peer] ?? "#888"}"><title>${peer}: ${ratio.toFixed(2)}</title></circle>`;
    }),
  );
  const step = (size.width - 40) / rivals.length;
  const legend = rivals.map(
    ({ name, title }, index) =>
      `<circle cx="${20 + index * step}" cy="44" r="${name === "capstan" ? 7.5 : 5}" fill="${colors[name] ?? "#888"}"/><text class="legend" x="${32 + index * step}" y="48">${title}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-size.margin} 0 ${size.width + size.margin} ${height}" role="img" aria-label="CPU and memory of each framework as a multiple of a hand-written floor; lower is better">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.row { text-anchor: end; } .tick { text-anchor: middle; font-size: 12px; } .title { font-size: 15px; font-weight: 600; }
.grid { stroke: #d0d7de; } .floor { stroke: #24292f; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .grid { stroke: #3d444d; } .floor { stroke: #e6edf3; } }
</style>
<text class="title" x="20" y="22">Cost beside a hand-written loop (1×), logarithmic; further left is better</text>
${[...legend, ...grid, ...labels, ...dots].join("\n")}
<text class="tick" x="${x(1).toFixed(1)}" y="${end + 34}">the floor</text>
</svg>
`;
}
