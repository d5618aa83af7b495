import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Agent, AgentError, type Event, type Hooks, isFact, type Json, type Store } from "capstan";
import type { LocalEngine } from "capstan/engines/local";
import { type Breakpoint, createBreakpoint, withBreakpoints } from "./breakpoints.ts";
import { type CrashAgentOptions, createCrashAgent, type PlannedCalls } from "./crash-agent.ts";
import { openTrace } from "./execution-trace.ts";
import { openSharedStore, type StoreAddress } from "./open-shared-store.ts";

/** Options of a worker process. */
export type WorkerOptions = Omit<CrashAgentOptions, "trace" | "reach"> & {
  readonly store: StoreAddress;
  /** File for executions and acknowledged facts. */
  readonly traceFile: string;
  readonly leaseMs: number;
  /** A program that calls `runEngineWorker`, and settings for it. Default: one with the engine `local`. */
  readonly program?: { readonly file: string; readonly settings: Json };
  readonly breakpoint?: Breakpoint;
  /** Limit of the heap in megabytes. Default: Node's. */
  readonly heapMb?: number;
  /** Facts after which a snapshot is stored. Default: the engine's. */
  readonly snapshotEvery?: number;
  /** A file that is imported before the program. */
  readonly preload?: string;
};

/** A run for a worker to start in its own session, or to enqueue in a given one. */
export type WorkerRequest = {
  readonly runId: string;
  readonly plan: PlannedCalls;
  readonly session?: string;
};

/** A report of a worker. */
export type WorkerReport =
  | { readonly type: "ready"; readonly port?: number }
  | { readonly type: "stored"; readonly runId: string }
  | { readonly type: "rested"; readonly runId: string; readonly status: string; readonly text: string }
  | { readonly type: "refused"; readonly runId: string; readonly code: string };

/** What every engine of a worker is created with. */
export type WorkerEngineOptions = {
  readonly store: Store;
  readonly agents: Agent;
  readonly leaseMs: number;
  readonly snapshotEvery?: number;
  readonly owner: string;
  readonly getResumeOptions: () => { readonly hooks: Hooks };
};

/** The engine of a worker, and the port at which it is called, if it is. */
export type WorkerEngine = { readonly engine: LocalEngine; readonly port?: number };

/**
 * The program of a worker process on a shared store. The first argument holds its options as JSON; `create` gets the
 * settings of `program`. It reads requests for runs from stdin and writes reports to stdout, one JSON object per line. It
 * exits on SIGTERM and when stdin ends. Started by `startWorker`.
 */
export async function runEngineWorker<Settings extends Json>(
  create: (options: WorkerEngineOptions, settings: Settings) => Promise<WorkerEngine>,
): Promise<void> {
  const options: WorkerOptions = JSON.parse(process.argv[2] ?? "{}");
  const { leaseMs, snapshotEvery } = options;
  const reach = createBreakpoint(options.breakpoint);
  const trace = openTrace(options.traceFile);
  const store = withBreakpoints(openSharedStore(options.store), reach);
  const agent = createCrashAgent({ ...options, trace, reach });
  const report = (message: WorkerReport) => writeSync(1, `${JSON.stringify(message)}\n`);
  const hooks: Hooks = {
    onEvent(event: Event) {
      if (!isFact(event)) return;
      const { runId, seq, type, id } = event;
      trace.write({ what: "acknowledged", runId, seq, type, id });
      if (type === "run_start" && event.parentRunId === undefined) report({ type: "stored", runId });
    },
  };
  const engineOptions: WorkerEngineOptions = {
    ...{ store, agents: agent, leaseMs, owner: `worker ${process.pid}` },
    ...(snapshotEvery !== undefined && { snapshotEvery }),
    getResumeOptions: () => ({ hooks }),
  };
  const { engine, port } = await create(engineOptions, options.program?.settings as Settings);

  function startRun({ runId, plan, session }: WorkerRequest): void {
    const input = JSON.stringify(plan);
    const refuse = (error: unknown) =>
      report({ type: "refused", runId, code: error instanceof AgentError ? error.code : String(error) });
    if (session !== undefined)
      engine
        .enqueue(agent, input, { runId, session, hooks })
        .then(() => report({ type: "stored", runId }), refuse);
    else
      engine
        .run(agent, input, { runId, session: runId, hooks })
        .then(({ status, text }) => report({ type: "rested", runId, status, text }), refuse);
  }

  async function shutDown(): Promise<void> {
    await engine.close();
    await store.close();
    requests.close();
    process.stdin.destroy();
  }

  const requests = createInterface(process.stdin);
  requests.on("line", (line) => startRun(JSON.parse(line)));
  process.stdin.on("end", () => process.exit(0));
  process.once("SIGTERM", () => void shutDown());
  report({ type: "ready", ...(port !== undefined && { port }) });
}
