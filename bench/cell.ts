// One cell of the table, in a process of its own: one framework at one kind of work. Run as a program, with its `Order`
// as JSON for an argument, it prints its `Cell` as JSON. Every run is checked; a wrong one ends the cell.
import { join } from "node:path";
import type { Adapter, Ask, BenchTool, Outcome } from "./adapter.ts";
import { keyOf, noteOf, resultOf, type Script, textOf, toolName } from "./model/script.ts";
import type { WireName } from "./model/wires.ts";
import { type Work, workNamed } from "./works.ts";

export type Order = {
  readonly peer: string;
  readonly work: string;
  readonly wire?: WireName;
  /** Of the fake model. */
  readonly origin: string;
  readonly effort: Effort;
};

export type Effort = {
  readonly warmUpMs: number;
  readonly samples: number;
  /** A sample is at least so long, so that a collection of garbage weighs on all alike. */
  readonly sampleMs: number;
};

export type Cell = {
  readonly peer: string;
  readonly wire: WireName;
  readonly work: string;
  /** In the unit of the work. */
  readonly samples: readonly number[];
  /** Milliseconds from the start of a run to its first text. */
  readonly firstText: readonly number[];
};

export async function measure(order: Order): Promise<Cell> {
  const work = workNamed(order.work);
  if (!work) throw new Error(`${order.work} is not measured here.`);
  const path = join(import.meta.dirname, "peers", order.peer, "adapter.ts");
  const { adapter } = (await import(path)) as { adapter: Adapter };
  const wire = order.wire ?? adapter.wires[0];
  const seen = { calls: 0 };
  const root = `${order.origin}/${wire}/${work.name}`;
  const ask = await adapter.connect({
    baseUrl: wire === "chat" || wire === "responses" ? `${root}/v1` : root,
    wire,
    maxTurns: work.script.toolTurns + 5,
    tool: countedTool(work.script, seen),
  });
  const bench: Bench = {
    work,
    ask,
    expected: textOf(work.script),
    origin: order.origin,
    seen,
    firstText: [],
  };
  const samples = work.name === "memory" ? [await heapPerRun(bench)] : await samplesOf(bench, order.effort);
  return { peer: order.peer, wire, work: work.name, samples, firstText: bench.firstText };
}

type Bench = {
  readonly work: Work;
  readonly ask: Ask;
  readonly expected: string;
  readonly origin: string;
  readonly seen: { calls: number };
  firstText: number[];
};

function countedTool({ toolTurns, fragments }: Script, seen: { calls: number }): BenchTool {
  const keys = new Set(Array.from({ length: toolTurns }, (_, turn) => keyOf(turn, 0).split("c")[0]));
  const expected = noteOf(fragments);
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
      seen.calls += 1;
      return resultOf(key);
    },
  };
}

const requestsAt = async (origin: string): Promise<number> =>
  Number(await (await fetch(`${origin}/requests`)).text());

/** Throws when anything of the run is not as the script says. */
async function oneRun({ work, ask, expected, firstText }: Bench): Promise<void> {
  const startedAt = performance.now();
  let heard = "";
  const outcome = await ask("What is in the drawers?", (piece) => {
    if (heard === "") firstText.push(performance.now() - startedAt);
    heard += piece;
  });
  const problem = problemOf(outcome, heard, { text: expected, turns: work.script.toolTurns + 1 });
  if (problem) throw new Error(problem);
}

/** What is wrong with a run. */
export function problemOf({ text, turns }: Outcome, heard: string, expected: Outcome): string | undefined {
  if (text !== expected.text) return `The text is wrong: ${JSON.stringify(text).slice(0, 200)}`;
  if (heard !== expected.text) return `The text heard is wrong: ${JSON.stringify(heard).slice(0, 200)}`;
  if (turns !== expected.turns) return `It took ${turns} turns, not ${expected.turns}.`;
  return undefined;
}

/** Runs until so much time has passed; gives the CPU per unit. */
async function sample(bench: Bench, leastMs: number): Promise<number> {
  const { work, origin, seen } = bench;
  const { together, script } = work;
  const requestsBefore = await requestsAt(origin);
  seen.calls = 0;
  bench.firstText = [];
  let runs = 0;
  const startedAt = performance.now();
  const before = process.cpuUsage();
  do {
    if (together === 1) await oneRun(bench);
    else await Promise.all(Array.from({ length: together }, () => oneRun(bench)));
    runs += together;
  } while (performance.now() - startedAt < leastMs);
  const { user, system } = process.cpuUsage(before);
  const [requests, calls] = [(await requestsAt(origin)) - requestsBefore, seen.calls];
  if (requests !== runs * (script.toolTurns + 1))
    throw new Error(`${runs} runs made ${requests} requests, not ${runs * (script.toolTurns + 1)}.`);
  if (calls !== runs * script.toolTurns * script.callsPerTurn)
    throw new Error(`${runs} runs made ${calls} calls of the tool.`);
  return (user + system) / (runs * work.perRun);
}

/**
 * Warms up by time, not by count, and on until it no longer gets better: a light loop needs more runs than a heavy one to be compiled.
 */
async function samplesOf(bench: Bench, { warmUpMs, samples, sampleMs }: Effort): Promise<number[]> {
  const startedAt = performance.now();
  let best = Number.POSITIVE_INFINITY;
  for (;;) {
    const cost = await sample(bench, sampleMs / 2);
    const isSteady = cost > best * 0.97;
    best = Math.min(best, cost);
    const ms = performance.now() - startedAt;
    if ((ms > warmUpMs && isSteady) || ms > 4 * warmUpMs) break;
  }
  const costs: number[] = [];
  while (costs.length < samples) costs.push(await sample(bench, sampleMs));
  return costs;
}

/** The heap that a run keeps while its model is in mid-sentence. */
async function heapPerRun({ work, ask }: Bench): Promise<number> {
  const collect = globalThis.gc;
  if (!collect) throw new Error("Run it with --expose-gc.");
  const settle = async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const begin = (count: number) => {
    const started = Array.from(
      { length: count },
      () =>
        new Promise<void>((heard, failed) => {
          ask("What is in the drawers?", () => heard()).catch(failed);
        }),
    );
    return Promise.all(started);
  };
  await begin(50); // what is loaded and compiled at first use is no run's own
  const before = await settle();
  await begin(work.together);
  return ((await settle()) - before) / work.together / 1024;
}

if (process.argv[1] === import.meta.filename) {
  const cell = await measure(JSON.parse(process.argv[2] ?? "{}"));
  console.log(JSON.stringify(cell));
  process.exit(); // runs in flight are not waited for
}
