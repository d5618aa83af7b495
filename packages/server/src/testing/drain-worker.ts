// Test server in a child process: `drain-worker.ts <order as JSON>`. Prints its URL as the first line.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { getHeapSpaceStatistics } from "node:v8";
import { defineAgent, defineTool } from "capstan";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { createServer, drainOnSignals, listen } from "../index.ts";
import type { DrainOrder } from "./start-drain-worker.ts";

const { file, patienceMs, stepMs, waitFor }: DrainOrder = JSON.parse(process.argv[2] ?? "{}");
const ballast: number[][] = [];
/** Equals the test's `--max-old-space-size`. */
const oldSpace = 320 * 1024 * 1024;

function measureOldSpace(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith("new_"));
  return old.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

const work = defineTool({
  name: "work",
  description: "Takes a while",
  input: { n: { type: "number" } },
  effects: "none",
  async execute({ n }) {
    await sleep(stepMs);
    while (waitFor && !existsSync(waitFor)) await sleep(stepMs);
    return `Step ${n}`;
  },
});
const fill = defineTool({
  name: "fill",
  description: "Takes nearly all memory",
  input: {},
  effects: "none",
  async execute() {
    while (measureOldSpace() < 0.92 * oldSpace) {
      ballast.push(new Array<number>(262_144).fill(Math.random()));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return "Full";
  },
});

const steps = scriptedModel(({ history }) => {
  const n = history.filter(({ type }) => type === "result").length;
  return n < 3 ? { calls: [{ name: "work", input: { n } }] } : { text: "Done." };
});
const greedy = scriptedModel(({ history }) =>
  history.some(({ type }) => type === "result") ? { text: "Full." } : { calls: [{ name: "fill" }] },
);

const store = sqlite(file, { pollMs: 20 });
const server = createServer({
  store,
  agents: [
    defineAgent({ name: "steps", model: steps, tools: [work] }),
    defineAgent({ name: "greedy", model: greedy, tools: [fill] }),
  ],
});
const listening = await listen(server, { port: 0 });
drainOnSignals(listening, { patienceMs, afterwards: () => store.close() });
process.on("SIGUSR2", () => {
  ballast.length = 0;
  globalThis.gc?.();
});
process.stdout.write(`${listening.url}\n`);
