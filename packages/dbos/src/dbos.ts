import { AsyncLocalStorage } from "node:async_hooks";
import { type Agent, type AgentCall, AgentError, type AgentOutput, type Json, type ToolCall } from "capstan";
import type { LocalEngine } from "capstan/engines/local";
import {
  createScheduledEngine,
  type ScheduledEngine,
  type ScheduledOptions,
} from "capstan/engines/scheduled";
import { type DbosMembership, type DbosSettings, joinDbos } from "./dbos-process.ts";
import { createReporter } from "./report-errors.ts";
import { openSegmentQueue, type Segment, type SegmentQueue } from "./segment-queue.ts";

export type DbosOptions<A extends Agent = Agent> = Omit<
  ScheduledOptions<A>,
  "schedule" | "takeOver" | "onScheduleError"
> & {
  /** The Postgres database of DBOS: the one of the store, or another. It is created if it does not exist. */
  readonly databaseUrl: string;
  /** The schema of the tables of DBOS. Deployments that share a database have different ones. Default: "capstan_dbos". */
  readonly schema?: string;
  /** The name of this engine among those that share the schema. Its runs go to engines with this name. Default: "main". */
  readonly name?: string;
  /** False in a process that only stores starts and messages, and follows runs. Default: true. */
  readonly work?: boolean;
  /** Runs that a worker executes at a time. Default: 100. */
  readonly maxRuns?: number;
  /** Runs of one user (the scope of the session, or else the session) at a time in a worker. Default: half of `maxRuns`. */
  readonly maxRunsPerUser?: number;
  /** How often a worker looks for segments. Default: 100 milliseconds. */
  readonly pollMs?: number;
  /** How long DBOS remembers a segment that is over. Default: 7 days. */
  readonly retentionMs?: number;
  /** Receives problems with DBOS or its database. They are temporary: it tries again. Default: a warning of the process. */
  readonly onError?: (error: unknown) => void;
};

export interface DbosEngine<Output = Json | undefined, Call extends ToolCall = ToolCall>
  extends LocalEngine<Output, Call> {
  /** Resolves when DBOS is launched, so that this process takes segments; at once with `work: false`. */
  readonly ready: Promise<void>;
}

/**
 * Creates an engine on DBOS: Postgres holds the queue of segments, and every process that has such an engine takes from
 * it. DBOS can be launched once per process, so engines in one process share it and differ in their `name`.
 */
export function dbos<A extends Agent>(options: DbosOptions<A>): DbosEngine<AgentOutput<A>, AgentCall<A>>;
export function dbos(options: DbosOptions): DbosEngine {
  const { name = "main", work = true } = options;
  const report = createReporter(options.onError);
  const settings = resolveSettings(options, report);
  // A segment does not belong to the workflow that asks for it: DBOS records none of its steps.
  const runOutsideWorkflow = AsyncLocalStorage.snapshot();
  const execute = (segment: Segment): Promise<void> =>
    runOutsideWorkflow(() => executeSegment(engine, queue, segment));
  const { queue, ready, close }: DbosMembership = work
    ? joinDbos(name, settings, execute)
    : openClient(settings);
  const engine: ScheduledEngine = createScheduledEngine({
    ...options,
    onScheduleError: report,
    schedule: ({ at, ...request }) => queue.add({ ...request, engine: name, attempt: 0 }, at),
  });
  return {
    ...engine,
    ready,
    async close() {
      // Both at the same time: the worker takes no more segments, and those in progress stop and go back to the queue.
      const closing = close();
      await engine.close();
      await closing;
    },
  };
}

function resolveSettings(options: DbosOptions, report: (error: unknown) => void): DbosSettings {
  const { databaseUrl, schema = "capstan_dbos", maxRuns = 100, pollMs = 100 } = options;
  const { maxRunsPerUser = Math.ceil(maxRuns / 2), retentionMs = 7 * 86_400_000 } = options;
  if (!/^postgres(ql)?:\/\//.test(databaseUrl ?? ""))
    throw new AgentError(
      "invalid_input",
      "databaseUrl must be the URL of a Postgres database: postgres://user:password@host:5432/name.",
    );
  for (const [key, value] of Object.entries({ maxRuns, maxRunsPerUser, pollMs, retentionMs }))
    if (!Number.isInteger(value) || value < 1)
      throw new AgentError("invalid_input", `${key} must be a positive integer, not ${value}.`);
  return { databaseUrl, schema, maxRuns, maxRunsPerUser, pollMs, retentionMs, owner: options.owner, report };
}

function openClient(settings: DbosSettings): DbosMembership {
  const queue = openSegmentQueue(settings);
  return { queue, ready: Promise.resolve(), close: queue.close };
}

const firstRetryMs = 1_000;
const maxRetryMs = 30_000;
/** After about a minute. Then `recover` asks for the segment, again and again. */
const maxAttempts = 7;

/** Executes a segment. If that fails here, it goes back to the queue, for any worker. */
async function executeSegment(engine: ScheduledEngine, queue: SegmentQueue, segment: Segment): Promise<void> {
  try {
    await engine.executeSegment({ runId: segment.runId });
  } catch (error) {
    const code = error instanceof AgentError ? error.code : "internal";
    const attempt = segment.attempt + 1;
    if (code === "unknown_run" || attempt >= maxAttempts) return;
    const delayMs = code === "aborted" ? 0 : Math.min(maxRetryMs, firstRetryMs * 2 ** segment.attempt);
    await queue.add({ ...segment, attempt }, Date.now() + delayMs);
  }
}
