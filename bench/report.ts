import { cpus } from "node:os";
import { costOf, type Figure, growthOf, ratioOf } from "./compare.ts";
import { goals } from "./goals.ts";
import { loopSizes } from "./loop.ts";
import { type Peer, versionsOf } from "./peers.ts";
import type { Results } from "./rounds.ts";
import { median, quantile } from "./statistics.ts";
import { works } from "./works.ts";

const none = "–";
const wires = ["chat", "responses", "anthropic", "gemini"] as const;

/** Everything that was measured, as Markdown. */
export function report(results: Results): string {
  const parts = [
    about(results),
    goalTable(results),
    ratioTable(results),
    firstTextTable(results),
    wireTable(results),
    footprintTable(results),
    loopTable(results),
    failureList(results),
    versionTable(results),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

const withSpread = (figure: Figure | undefined): string =>
  figure ? `${figure.middle.toFixed(2)} (${figure.low.toFixed(2)} to ${figure.high.toFixed(2)})` : none;

function about({ plan }: Results): string {
  const processor = cpus()[0]?.model.trim() ?? "an unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Node ${process.version}, ${cpus().length} × ${processor}, ${plan.rounds} ${plan.rounds === 1 ? "round" : "rounds"}, \`npm run bench\`.`;
}

function goalTable(results: Results): string {
  const rows = goals.flatMap(({ what, limit, measure }) => {
    const value = measure(results);
    if (value === undefined) return [];
    return [[what, `at most ${limit}`, value.toFixed(2), value <= limit ? "met" : "**missed**"]];
  });
  return rows.length === 0
    ? ""
    : `### What must hold for Capstan\n\n${table(["", "goal", "measured", ""], rows)}`;
}

const rivals = ({ plan }: Results): Peer[] => plan.peers.filter(({ name }) => name !== "floor");

function ratioTable(results: Results): string {
  const compared = works.filter(({ name }) => results.plan.works.includes(name));
  const rows = compared.map(({ name: work, title, unit }) => {
    const floor = costOf(results, { peer: "floor", work });
    const ratios = rivals(results).map((peer) => withSpread(ratioOf(results, { peer: peer.name, work })));
    return [title, floor ? `${floor.middle.toFixed(1)} ${unit}` : none, ...ratios];
  });
  const exponents = results.plan.peers.map(({ name }) => withSpread(growthOf(results, name)));
  if (exponents.some((text) => text !== none)) rows.push(["growth exponent, 25 to 400 turns", ...exponents]);
  const head = ["times the floor", "floor", ...rivals(results).map(({ title }) => title)];
  return rows.length === 0 ? "" : `### Beside the floor\n\n${table(head, rows)}`;
}

function firstTextTable(results: Results): string {
  const rows = works
    .filter(({ name }) => name.startsWith("concurrent") && results.plan.works.includes(name))
    .flatMap(({ name, title }) =>
      [0.5, 0.99].map((share) => [
        `${title}: ${share === 0.5 ? "median" : "99 of 100 within"}`,
        ...results.plan.peers.map(({ name: peer, wire }) => {
          const times = results.cells
            .filter((cell) => cell.peer === peer && cell.work === name && cell.wire === wire)
            .map(({ firstText }) => quantile(firstText, share));
          return times.length > 0 ? median(times).toFixed(0) : none;
        }),
      ]),
    );
  const head = ["ms to the first text", ...results.plan.peers.map(({ title }) => title)];
  return rows.length === 0 ? "" : `### First text\n\n${table(head, rows)}`;
}

function wireTable(results: Results): string {
  const rows = ["burst", "calls"]
    .filter((work) => results.plan.works.includes(work))
    .map((work) => [
      works.find(({ name }) => name === work)?.title ?? work,
      ...wires.map((wire) => withSpread(ratioOf(results, { peer: "capstan", work, wire }))),
    ]);
  const isThere = rows.length > 0 && results.plan.peers.some(({ name }) => name === "capstan");
  return isThere ? `### Capstan on every wire\n\n${table(["times the floor", ...wires], rows)}` : "";
}

function footprintTable({ plan, imports, installs }: Results): string {
  const rows: string[][] = [];
  if (imports.length > 0)
    rows.push([
      "import, ms of CPU",
      ...plan.peers.map(({ name }) =>
        median(imports.filter(({ peer }) => peer === name).map(({ ms }) => ms)).toFixed(0),
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
  return rows.length === 0 ? "" : `### Import and install\n\n${table(head, rows)}`;
}

function loopTable({ loops }: Results): string {
  if (loops.length === 0) return "";
  const rows = loopSizes.map((size) => {
    const samples = loops.filter(({ toolTurns }) => toolTurns === size).flatMap((cell) => cell.samples);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(samples, share).toFixed(1));
    return [String(size), `${middle}`, `${low} to ${high}`];
  });
  return `### The loop alone\n\nNo network: a model that answers at once.\n\n${table(["tool turns", "µs per turn", "middle half"], rows)}`;
}

function failureList({ failures }: Results): string {
  if (failures.length === 0) return "";
  const lines = failures.map(({ peer, work, reason }) => `- ${peer}, ${work}: ${reason}`);
  return `### Runs that went wrong and do not count\n\n${[...new Set(lines)].join("\n")}`;
}

function versionTable({ plan }: Results): string {
  const rows = plan.peers.map(({ name, title, wire }) => [title, versionsOf(name), wire]);
  return `### Versions\n\n${table(["", "packages", "wire"], rows)}`;
}
