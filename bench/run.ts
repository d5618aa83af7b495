// Measures the loop and the clients of the providers, and prints tables. Every cell of the loop is a process of its own, and rounds go through all cells, so that
// neither a warm machine nor a noisy minute favours one of them.
import { execFile } from "node:child_process";
import { cpus } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { importCosts } from "./import.ts";
import type { Cell } from "./loop.ts";
import type { RequestRow, StreamRow, Wires } from "./wires.ts";

const sizes = [25, 100, 400, 1600];
const rounds = 5;
/** A turn of the longest run may cost so many times what it costs in a run of a hundred. */
const worstGrowth = 1.3;
/** A client may cost so many times what a bare loop over the same bytes costs. */
const worstRatio = 2;

const execute = promisify(execFile);

/** Rejects when a run in it gave a wrong result. */
async function cellOf(toolTurns: number): Promise<Cell> {
  const program = join(import.meta.dirname, "loop.ts");
  const { stdout } = await execute(process.execPath, [
    "--conditions=capstan-source",
    program,
    String(toolTurns),
  ]);
  return JSON.parse(stdout);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const place = (sorted.length - 1) * share;
  const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

async function measureAll(): Promise<Map<number, Cell[]>> {
  const cells = new Map<number, Cell[]>(sizes.map((size) => [size, []]));
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}\n`);
    // There and back, so that no size is always measured first.
    for (const size of round % 2 === 1 ? sizes : sizes.toReversed())
      cells.get(size)?.push(await cellOf(size));
  }
  return cells;
}

function rowOf(toolTurns: number, cells: readonly Cell[]): string {
  const samples = cells.flatMap((cell) => cell.samples);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(samples, share).toFixed(1));
  return `| ${toolTurns} | ${middle} | ${low} to ${high} | ${samples.length} |`;
}

/** Compared within each round, because the two were measured close together. */
function growthOf(cells: ReadonlyMap<number, readonly Cell[]>): number {
  const [base = [], long = []] = [cells.get(100), cells.get(1600)];
  return median(base.map((cell, round) => median(long[round]?.samples ?? []) / median(cell.samples)));
}

/** On the built package, because a dependency has sources of its own under the name of the condition. */
async function wires(): Promise<Wires> {
  const { stdout } = await execute(process.execPath, [join(import.meta.dirname, "wires.ts")]);
  return JSON.parse(stdout);
}

function reportStreams(rows: readonly StreamRow[]): void {
  console.log("\n| client | piece | bare µs | client µs | ratio |\n| --- | --- | ---: | ---: | ---: |");
  for (const { client, piece, bareUs, clientUs, ratio } of rows) {
    console.log(
      `| ${client} | ${piece} | ${bareUs.toFixed(2)} | ${clientUs.toFixed(2)} | ${ratio.toFixed(2)} |`,
    );
  }
  const worst = Math.max(...rows.map(({ ratio }) => ratio));
  const isGood = worst <= worstRatio;
  const verdict = isGood ? `within ${worstRatio}` : `MORE THAN ${worstRatio}`;
  console.log(`\nAt worst a client costs ${worst.toFixed(2)} times the bare loop: ${verdict}.`);
  if (!isGood) process.exitCode = 1;
}

function reportRequests([bare, ...rows]: readonly RequestRow[]): void {
  if (!bare) return;
  console.log(
    "\n| request | bytes per µs at turn 100 | at turn 400 | growth |\n| --- | ---: | ---: | ---: |",
  );
  // What a longer string costs anyone is no growth of ours.
  const growthIn = ({ at100, at400 }: RequestRow) => at100 / bare.at100 / (at400 / bare.at400);
  for (const row of [bare, ...rows]) {
    const { client, at100, at400 } = row;
    console.log(`| ${client} | ${at100.toFixed(0)} | ${at400.toFixed(0)} | ${growthIn(row).toFixed(2)} |`);
  }
  const worst = Math.max(...rows.map(growthIn));
  const isLinear = worst <= worstGrowth;
  const verdict = isLinear ? `within ${worstGrowth}` : `MORE THAN ${worstGrowth}`;
  console.log(
    `\nBeside the bare join, a byte at turn 400 costs at worst ${worst.toFixed(2)} times one at turn 100: ${verdict}.`,
  );
  if (!isLinear) process.exitCode = 1;
}

async function main(): Promise<void> {
  const cells = await measureAll();
  const growth = growthOf(cells);
  const isLinear = growth <= worstGrowth;
  console.log(`Node ${process.version} on ${cpus()[0]?.model.trim() ?? "an unknown processor"}\n`);
  console.log("| tool turns | µs per turn (median) | middle half | samples |\n| ---: | ---: | ---: | ---: |");
  for (const [size, measured] of cells) console.log(rowOf(size, measured));
  const verdict = isLinear ? `within ${worstGrowth}` : `MORE THAN ${worstGrowth}`;
  console.log(`\nA turn at 1,600 costs ${growth.toFixed(2)} times a turn at 100: ${verdict}.`);
  if (!isLinear) process.exitCode = 1;
  const costs = await importCosts(15);
  console.log(
    `\nImporting the built package, cold: ${median(costs).toFixed(1)} ms of CPU (median of ${costs.length}).`,
  );
  const { streams, requests } = await wires();
  reportStreams(streams);
  reportRequests(requests);
}

await main();
