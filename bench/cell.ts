// Measures one cell of the table in its own process: one framework at one kind of work. As a program, it takes a
// `CellOrder` as JSON argument and prints a `Cell` as JSON. Every run is checked; a wrong one fails the cell.
import { join } from "node:path";
import type { Adapter, BenchTool, Outcome, RunPrompt } from "./adapter.ts";
import { createNote, formatKey, formatResult, getFinalText, type Script, toolName } from "./model/script.ts";
import type { WireName } from "./model/wires.ts";
import { findWork, type Work } from "./works.ts";

export type CellOrder = {
  readonly peer: string;
  readonly work: string;
  readonly wire?: WireName;
  /** Origin of the fake model. */
  readonly origin: string;
  readonly effort: Effort;
};

export type Effort = {
  readonly warmUpMs: number;
  readonly samples: number;
  /** Minimum length of a sample, so that garbage collection affects all samples equally. */
  readonly sampleMs: number;
  /** No further sample starts after this time: the samples of slow work are long enough. */
  readonly maxSamplingMs: number;
};

export type Cell = {
  readonly peer: string;
  readonly wire: WireName;
  readonly work: string;
  /** In the unit of the work. */
  readonly samples: readonly number[];
  /** Milliseconds from the start of each run to its first text. */
  readonly firstText: readonly number[];
};

export async function measureCell(order: CellOrder): Promise<Cell> {
  const work = findWork(order.work);
  if (!work) throw new Error(`Work "${order.work}" is not measured in a cell.`);
  const path = join(import.meta.dirname, "peers", order.peer, "adapter.ts");
  const { adapter } = (await import(path)) as { adapter: Adapter };
  const wire = order.wire ?? adapter.wires[0];
  const counter = { calls: 0 };
  const root = `${order.origin}/${wire}/${work.name}`;
  const ask = await adapter.connect({
    baseUrl: wire === "chat" || wire === "responses" ? `${root}/v1` : root,
    wire,
    maxTurns: work.script.toolTurns + 5,
    tool: {
      ...createCountingTool(work.script, counter),
      ...(work.hasZodTool && (await createZodParameters())),
    },
  });
  const bench: Bench = {
    work,
    ask,
    expected: getFinalText(work.script),
    origin: order.origin,
    counter,
    firstText: [],
  };
  const samples =
    work.name === "memory" ? [await measureHeapPerRun(bench)] : await measureSamples(bench, order.effort);
  return { peer: order.peer, wire, work: work.name, samples, firstText: bench.firstText };
}

type Bench = {
  readonly work: Work;
  readonly ask: RunPrompt;
  readonly expected: string;
  readonly origin: string;
  readonly counter: { calls: number };
  firstText: number[];
};

function createCountingTool({ toolTurns, fragments }: Script, counter: { calls: number }): BenchTool {
  const keys = new Set(Array.from({ length: toolTurns }, (_, turn) => formatKey(turn, 0).split("c")[0]));
  const expected = createNote(fragments);
  return {
    name: toolName,
    description: "Looks up what is stored under a key",
    parameters: {
      type: "object",
      properties: { key: { type: "string" }, note: { type: "string" } },
      required: ["key", "note"],
      additionalProperties: false,
    },
    execute({ key, note }) {
      if (!keys.has(key.split("c")[0]) || note !== expected)
        throw new Error(`Wrong arguments: ${JSON.stringify({ key, note })}`);
      counter.calls += 1;
      return formatResult(key);
    },
  };
}

async function createZodParameters(): Promise<Pick<BenchTool, "zodParameters">> {
  const { z } = await import("zod");
  return { zodParameters: z.strictObject({ key: z.string(), note: z.string() }) };
}

const fetchRequestCount = async (origin: string): Promise<number> =>
  Number(await (await fetch(`${origin}/requests`)).text());

/** Throws if the run differs from the script. */
async function runOnce({ work, ask, expected, firstText }: Bench): Promise<void> {
  const startedAt = performance.now();
  let streamedText = "";
  const outcome = await ask("What is in the drawers?", (piece) => {
    if (streamedText === "") firstText.push(performance.now() - startedAt);
    streamedText += piece;
  });
  const problem = checkOutcome(outcome, streamedText, { text: expected, turns: work.script.toolTurns + 1 });
  if (problem) throw new Error(problem);
}

/** Returns what is wrong with a run, if anything. */
export function checkOutcome(
  { text, turns }: Outcome,
  streamedText: string,
  expected: Outcome,
): string | undefined {
  if (text !== expected.text) return `Wrong text: ${JSON.stringify(text).slice(0, 200)}`;
  if (streamedText !== expected.text)
    return `Wrong streamed text: ${JSON.stringify(streamedText).slice(0, 200)}`;
  if (turns !== expected.turns) return `It took ${turns} turns, not ${expected.turns}.`;
  return undefined;
}

/** Runs for at least `minMs` and returns the CPU time per unit. */
async function measureSample(bench: Bench, minMs: number): Promise<number> {
  const { work, origin, counter: seen } = bench;
  const { together, script } = work;
  const requestsBefore = await fetchRequestCount(origin);
  seen.calls = 0;
  bench.firstText = [];
  let runs = 0;
  const startedAt = performance.now();
  const heapBefore = process.cpuUsage();
  do {
    if (together === 1) await runOnce(bench);
    else await Promise.all(Array.from({ length: together }, () => runOnce(bench)));
    runs += together;
  } while (performance.now() - startedAt < minMs);
  const { user, system } = process.cpuUsage(heapBefore);
  const [requests, calls] = [(await fetchRequestCount(origin)) - requestsBefore, seen.calls];
  if (requests !== runs * (script.toolTurns + 1))
    throw new Error(`${runs} runs made ${requests} requests, not ${runs * (script.toolTurns + 1)}.`);
  if (calls !== runs * script.toolTurns * script.callsPerTurn)
    throw new Error(`${runs} runs made ${calls} tool calls.`);
  return (user + system) / (runs * work.perRun);
}

/**
 * Warms up by time rather than by count, until the cost no longer improves: a light loop needs more runs to be compiled
 * than a heavy one.
 */
async function measureSamples(bench: Bench, effort: Effort): Promise<number[]> {
  const { warmUpMs, samples, sampleMs, maxSamplingMs } = effort;
  const startedAt = performance.now();
  let best = Number.POSITIVE_INFINITY;
  for (;;) {
    const cost = await measureSample(bench, sampleMs / 2);
    const isSteady = cost > best * 0.97;
    best = Math.min(best, cost);
    const ms = performance.now() - startedAt;
    if ((ms > warmUpMs && isSteady) || ms > 4 * warmUpMs) break;
  }
  const costs: number[] = [];
  const deadline = performance.now() + maxSamplingMs;
  do costs.push(await measureSample(bench, sampleMs));
  while (costs.length < samples && performance.now() < deadline);
  return costs;
}

/** Measures the heap of a run while its model is streaming. */
async function measureHeapPerRun({ work, ask }: Bench): Promise<number> {
  const collectGarbage = globalThis.gc;
  if (!collectGarbage) throw new Error("Requires --expose-gc.");
  const measureSettledHeap = async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    collectGarbage();
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const startRuns = (count: number) => {
    const started = Array.from(
      { length: count },
      () =>
        new Promise<void>((streamedText, failed) => {
          ask("What is in the drawers?", () => streamedText()).catch(failed);
        }),
    );
    return Promise.all(started);
  };
  await startRuns(50); // exclude code that is loaded and compiled on first use
  const heapBefore = await measureSettledHeap();
  await startRuns(work.together);
  return ((await measureSettledHeap()) - heapBefore) / work.together / 1024;
}

if (process.argv[1] === import.meta.filename) {
  const cell = await measureCell(JSON.parse(process.argv[2] ?? "{}"));
  console.log(JSON.stringify(cell));
  process.exit(); // do not wait for runs in flight
}
