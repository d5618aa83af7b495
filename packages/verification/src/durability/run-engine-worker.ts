import { writeSync } from "node:fs";
import { type Agent, type Event, type Hooks, isFact, type Json, type Store } from "capstan";
import type { LocalEngine } from "capstan/engines/local";
import { createBreakpoint, withBreakpoints } from "./breakpoints.ts";
import { createCrashAgent } from "./crash-agent.ts";
import { openTrace } from "./execution-trace.ts";
import { openSharedStore } from "./open-shared-store.ts";
import type { WorkerOptions, WorkerReport } from "./worker-process.ts";

/** What every engine of a worker is created with. */
export type WorkerEngineOptions = {
  readonly store: Store;
  readonly agents: Agent;
  readonly leaseMs: number;
  readonly owner: string;
  readonly getResumeOptions: () => { readonly hooks: Hooks };
};

/**
 * The program of a worker process that executes what its engine gives it. `create` gets the settings of `program`. It exits
 * on SIGTERM and when stdin ends. Started by `startWorker`.
 */
export async function runEngineWorker<Settings extends Json>(
  create: (options: WorkerEngineOptions, settings: Settings) => Promise<LocalEngine>,
): Promise<void> {
  const options: WorkerOptions = JSON.parse(process.argv[2] ?? "{}");
  const reach = createBreakpoint(options.breakpoint);
  const trace = openTrace(options.traceFile);
  const store = withBreakpoints(openSharedStore(options.store), reach);
  const report = (message: WorkerReport) => writeSync(1, `${JSON.stringify(message)}\n`);
  const hooks: Hooks = {
    onEvent(event: Event) {
      if (!isFact(event)) return;
      const { runId, seq, type, id } = event;
      trace.write({ what: "acknowledged", runId, seq, type, id });
    },
  };
  const engineOptions: WorkerEngineOptions = {
    store,
    agents: createCrashAgent({ ...options, trace, reach }),
    leaseMs: options.leaseMs,
    owner: `worker ${process.pid}`,
    getResumeOptions: () => ({ hooks }),
  };
  const engine = await create(engineOptions, options.program?.settings as Settings);

  async function shutDown(): Promise<void> {
    await engine.close();
    await store.close();
    process.stdin.destroy();
  }

  process.stdin.on("end", () => process.exit(0)).resume();
  process.once("SIGTERM", () => void shutDown());
  report({ type: "ready" });
}
