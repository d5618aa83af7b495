import { computeCost, computeGrowth, computeRatio, type Figure } from "./compare.ts";
import { goals } from "./goals.ts";
import { loopSizes } from "./loop.ts";
import { formatEnvironment, formatRounds, formatTable } from "./markdown.ts";
import { formatVersions, type Peer } from "./peers.ts";
import type { Results } from "./rounds.ts";
import { computeMedian, computeQuantile } from "./statistics.ts";
import { works } from "./works.ts";

const none = "–";
const wires = ["chat", "responses", "anthropic", "gemini"] as const;

/** Formats all results as Markdown. */
export function formatReport(results: Results): string {
  const parts = [
    `${formatEnvironment("npm run bench", formatRounds(results.plan.rounds))}.`,
    formatGoals(results),
    formatRatios(results),
    formatFirstText(results),
    formatWires(results),
    formatFootprint(results),
    formatLoop(results),
    formatFailures(results),
    formatVersionTable(results),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

const formatFigure = (figure: Figure | undefined): string =>
  figure ? `${figure.middle.toFixed(2)} (${figure.low.toFixed(2)} to ${figure.high.toFixed(2)})` : none;

function formatGoals(results: Results): string {
  const rows = goals.flatMap(({ title, limit, measure }) => {
    const value = measure(results);
    if (value === undefined) return [];
    return [[title, `at most ${limit}`, value.toFixed(2), value <= limit ? "met" : "**missed**"]];
  });
  return rows.length === 0
    ? ""
    : `### Goals for Capstan\n\n${formatTable(["", "goal", "measured", ""], rows)}`;
}

const getRivals = ({ plan }: Results): Peer[] => plan.peers.filter(({ name }) => name !== "floor");

function formatRatios(results: Results): string {
  const compared = works.filter(({ name }) => results.plan.works.includes(name));
  const rows = compared.map(({ name: work, title, unit }) => {
    const floor = computeCost(results, { peer: "floor", work });
    const ratios = getRivals(results).map((peer) =>
      formatFigure(computeRatio(results, { peer: peer.name, work })),
    );
    return [title, floor ? `${floor.middle.toFixed(1)} ${unit}` : none, ...ratios];
  });
  const exponents = results.plan.peers.map(({ name }) => formatFigure(computeGrowth(results, name)));
  if (exponents.some((text) => text !== none)) rows.push(["growth exponent, 25 to 400 turns", ...exponents]);
  const head = ["times the floor", "floor", ...getRivals(results).map(({ title }) => title)];
  return rows.length === 0 ? "" : `### Compared with the floor\n\n${formatTable(head, rows)}`;
}

function formatFirstText(results: Results): string {
  const rows = works
    .filter(({ name }) => name.startsWith("concurrent") && results.plan.works.includes(name))
    .flatMap(({ name, title }) =>
      [0.5, 0.99].map((share) => [
        `${title}: ${share === 0.5 ? "median" : "99 of 100 within"}`,
        ...results.plan.peers.map(({ name: peer, wire }) => {
          const times = results.cells
            .filter((cell) => cell.peer === peer && cell.work === name && cell.wire === wire)
            .map(({ firstText }) => computeQuantile(firstText, share));
          return times.length > 0 ? computeMedian(times).toFixed(0) : none;
        }),
      ]),
    );
  const head = ["ms to the first text", ...results.plan.peers.map(({ title }) => title)];
  return rows.length === 0 ? "" : `### First text\n\n${formatTable(head, rows)}`;
}

function formatWires(results: Results): string {
  const rows = ["burst", "calls"]
    .filter((work) => results.plan.works.includes(work))
    .map((work) => [
      works.find(({ name }) => name === work)?.title ?? work,
      ...wires.map((wire) => formatFigure(computeRatio(results, { peer: "capstan", work, wire }))),
    ]);
  const isThere = rows.length > 0 && results.plan.peers.some(({ name }) => name === "capstan");
  return isThere ? `### Capstan on every wire\n\n${formatTable(["times the floor", ...wires], rows)}` : "";
}

function formatFootprint({ plan, imports, installs }: Results): string {
  const rows: string[][] = [];
  if (imports.length > 0)
    rows.push([
      "import, ms of CPU",
      ...plan.peers.map(({ name }) =>
        computeMedian(imports.filter(({ peer }) => peer === name).map(({ ms }) => ms)).toFixed(0),
      ),
    ]);
  if (installs.size > 0) {
    rows.push([
      "installed, MB",
      ...plan.peers.map(({ name }) => `${installs.get(name)?.megabytes.toFixed(1)}`),
    ]);
    rows.push(["packages", ...plan.peers.map(({ name }) => `${installs.get(name)?.packages}`)]);
  }
  const head = ["", ...plan.peers.map(({ title }) => title)];
  return rows.length === 0 ? "" : `### Import and install\n\n${formatTable(head, rows)}`;
}

function formatLoop({ loops }: Results): string {
  if (loops.length === 0) return "";
  const rows = loopSizes.map((size) => {
    const samples = loops.filter(({ toolTurns }) => toolTurns === size).flatMap((cell) => cell.samples);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => computeQuantile(samples, share).toFixed(1));
    return [String(size), `${middle}`, `${low} to ${high}`];
  });
  return `### The loop alone\n\nNo network: the model answers immediately.\n\n${formatTable(["tool turns", "µs per turn", "middle half"], rows)}`;
}

function formatFailures({ failures }: Results): string {
  if (failures.length === 0) return "";
  const lines = failures.map(({ peer, work, reason }) => `- ${peer}, ${work}: ${reason}`);
  return `### Failed runs (not counted)\n\n${[...new Set(lines)].join("\n")}`;
}

function formatVersionTable({ plan }: Results): string {
  const rows = plan.peers.map(({ name, title, wire }) => [title, formatVersions(name), wire]);
  return `### Versions\n\n${formatTable(["", "packages", "wire"], rows)}`;
}
