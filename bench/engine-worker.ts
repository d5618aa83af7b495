// A worker process of the engine benchmark. Reports every run that it completes, and its costs when it is asked.
import { countQueries, type PostgresTraffic } from "./count-queries.ts";
import { countSteps, createBenchAgent } from "./engine-agent.ts";
import { type EngineAddress, openEngine } from "./open-engine.ts";

export type WorkerOrder = { readonly address: EngineAddress; readonly toolTurns: number };
export type WorkerCosts = PostgresTraffic & { readonly cpuMs: number; readonly steps: number };
export type WorkerMessage =
  | { readonly type: "ready"; readonly port?: number }
  /** `stepMs`: the time of a step, from the first one to the end. */
  | { readonly type: "ended"; readonly runId: string; readonly stepMs: number }
  | { readonly type: "costs"; readonly costs: WorkerCosts };

const { address, toolTurns }: WorkerOrder = JSON.parse(process.argv[2] ?? "{}");
const getTraffic = countQueries();
const report = (message: WorkerMessage) => void process.send?.(message);
const firstSteps = new Map<string, number>();
let steps = 0;

const { close, port } = await openEngine(address, {
  agent: createBenchAgent(toolTurns),
  work: true,
  onEvent({ type, runId }) {
    const now = performance.now();
    if (type === "message" || type === "tool_call_result") {
      steps += 1;
      if (!firstSteps.has(runId)) firstSteps.set(runId, now);
    }
    if (type !== "done") return;
    const stepMs = (now - (firstSteps.get(runId) ?? now)) / (countSteps(toolTurns) - 1);
    firstSteps.delete(runId);
    report({ type: "ended", runId, stepMs });
  },
});

process.on("message", async (request) => {
  if (request === "close") {
    await close();
    process.exit(0);
  }
  const { user, system } = process.cpuUsage();
  report({ type: "costs", costs: { steps, cpuMs: (user + system) / 1_000, ...getTraffic() } });
});
process.on("disconnect", () => process.exit(1)); // the benchmark was interrupted
report({ type: "ready", ...(port !== undefined && { port }) });
