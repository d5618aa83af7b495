// A worker process on a shared store. The first argument holds its options as JSON. It reads requests for runs from stdin
// and writes reports to stdout, one JSON object per line: ready, run stored, run settled, run refused. It exits on SIGTERM
// and when stdin ends.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { restate } from "@capstan/restate";
import { AgentError, type Event, type Hooks, isFact, type Json } from "capstan";
import { local } from "capstan/engines/local";
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
  /** A program that calls `runEngineWorker`, and settings for it. Default: this one, with the engine `local`. */
  readonly program?: { readonly file: string; readonly settings: Json };
  readonly breakpoint?: Breakpoint;
  /** Limit of the heap in megabytes. Default: Node's. */
  readonly heapMb?: number;
  /** Facts after which a snapshot is stored. Default: the engine's. */
  readonly snapshotEvery?: number;
  /** The ingress of the Restate server that has the worker execute runs. Default: the worker takes them from the store. */
  readonly restateUrl?: string;
  /** How often a worker of Restate searches for runs that Restate did not receive. Default: the engine's. */
  readonly recoverEveryMs?: number;
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

async function runWorker(options: WorkerOptions): Promise<void> {
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
  const engineOptions = {
    store,
    agents: agent,
    leaseMs: options.leaseMs,
    ...(options.snapshotEvery !== undefined && { snapshotEvery: options.snapshotEvery }),
    owner: `worker ${process.pid}`,
    getResumeOptions: () => ({ hooks }),
  };
  const { recoverEveryMs } = options;
  const restateOptions = { maxRetryMs: 500, ...(recoverEveryMs !== undefined && { recoverEveryMs }) };
  const remote =
    options.restateUrl === undefined
      ? undefined
      : restate({ ...engineOptions, ...restateOptions, ingress: { url: options.restateUrl } });
  const engine = remote ?? local(engineOptions);

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
  const endpoint = await remote?.listen();
  report({ type: "ready", ...(endpoint && { port: endpoint.port }) });
}

await runWorker(JSON.parse(process.argv[2] ?? "{}"));
