import { setTimeout as pause } from "node:timers/promises";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { ensurePGDatabase } from "@dbos-inc/dbos-sdk/internal/database_utils";
import { dbRetryConfig } from "@dbos-inc/dbos-sdk/internal/utils";
import { AgentError } from "capstan";
import { withLaunchLock } from "./launch-lock.ts";
import {
  application,
  createDbosLogger,
  openSegmentQueue,
  type Segment,
  type SegmentQueue,
} from "./segment-queue.ts";

export type DbosSettings = {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly maxRuns: number;
  readonly maxRunsPerUser: number;
  readonly pollMs: number;
  readonly retentionMs: number;
  readonly owner: string | undefined;
  readonly report: (error: unknown) => void;
};

type ExecuteSegment = (segment: Segment) => Promise<void>;

/** The part of an engine in the DBOS of its process. */
export type DbosMembership = {
  readonly queue: SegmentQueue;
  readonly ready: Promise<void>;
  close(): Promise<void>;
};

/** The DBOS of this process. */
type DbosProcess = {
  readonly settings: DbosSettings;
  readonly engines: Map<string, ExecuteSegment>;
  readonly queue: SegmentQueue;
  readonly shutdown: AbortController;
  readonly ready: Promise<void>;
};

let current: DbosProcess | undefined;
/** DBOS is launched and shut down one after the other. */
let lastShutdown: Promise<void> = Promise.resolve();
let isWorkflowRegistered = false;

const firstRelaunchMs = 500;
const maxRelaunchMs = 5_000;
/** DBOS waits for up to a minute and a half before it tries its database again, even if that was down for seconds. */
const maxReconnectSeconds = 5;
const drainTimeoutMs = 600_000;
const unknownEngineDelayMs = 1_000;
const cleanEveryMs = 3_600_000;

/** Lets an engine execute segments in this process. The first one launches DBOS, the last one shuts it down. */
export function joinDbos(name: string, settings: DbosSettings, execute: ExecuteSegment): DbosMembership {
  if (current) assertSameSettings(current.settings, settings);
  else if (DBOS.isInitialized())
    throw new AgentError(
      "invalid_input",
      "DBOS is launched in this process by other code, and it can be launched only once. Run the workers in a process of their own, and use `work: false` here.",
    );
  if (current?.engines.has(name))
    throw new AgentError(
      "invalid_input",
      `This process has an engine "${name}" already. Close it first, or give this one another \`name\`.`,
    );
  const joined = current ?? startDbos(settings);
  current = joined;
  joined.engines.set(name, execute);
  return {
    queue: joined.queue,
    ready: joined.ready,
    async close() {
      if (!joined.engines.delete(name) || joined.engines.size > 0) return;
      if (current === joined) current = undefined;
      lastShutdown = stopDbos(joined);
      await lastShutdown;
    },
  };
}

function assertSameSettings(before: DbosSettings, settings: DbosSettings): void {
  const shared = ["databaseUrl", "schema", "maxRuns", "maxRunsPerUser", "pollMs", "retentionMs"] as const;
  for (const key of shared)
    if (before[key] !== settings[key])
      throw new AgentError(
        "invalid_input",
        `Engines in one process share DBOS, so \`${key}\` must be the same for all of them. Use another process for other settings.`,
      );
}

function startDbos(settings: DbosSettings): DbosProcess {
  const shutdown = new AbortController();
  const ready = lastShutdown.then(() => launchDbos(settings, shutdown.signal));
  const queue = openSegmentQueue(settings, ready);
  const started = { settings, engines: new Map<string, ExecuteSegment>(), queue, shutdown, ready };
  const clean = () => void queue.removeOld().catch(settings.report);
  void ready.then(() => {
    if (shutdown.signal.aborted) return;
    clean();
    const timer = setInterval(clean, cleanEveryMs).unref();
    shutdown.signal.addEventListener("abort", () => clearInterval(timer));
  });
  return started;
}

async function stopDbos({ shutdown, ready, queue }: DbosProcess): Promise<void> {
  shutdown.abort();
  await ready;
  await DBOS.shutdown({ workflowCompletionTimeoutMS: drainTimeoutMs });
  await queue.close();
}

/** Tries until the database answers or the signal is aborted. */
async function launchDbos(settings: DbosSettings, signal: AbortSignal): Promise<void> {
  for (
    let relaunchMs = firstRelaunchMs;
    !signal.aborted;
    relaunchMs = Math.min(maxRelaunchMs, 2 * relaunchMs)
  ) {
    try {
      await launchOnce(settings, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      settings.report(error);
      await DBOS.shutdown().catch(settings.report);
    }
    await pause(relaunchMs, undefined, { signal }).catch(() => undefined); // keeps the process of a worker alive
  }
}

async function launchOnce(settings: DbosSettings, signal: AbortSignal): Promise<void> {
  const { databaseUrl, schema, maxRuns, maxRunsPerUser, pollMs, owner, report } = settings;
  if (!isWorkflowRegistered) DBOS.registerWorkflow(runSegmentWorkflow, { name: application.workflow });
  isWorkflowRegistered = true;
  dbRetryConfig.maxBackoffSec = maxReconnectSeconds;
  const logger = createDbosLogger(report);
  DBOS.setConfig({
    name: application.name,
    applicationVersion: application.version,
    executorID: owner ?? crypto.randomUUID(),
    systemDatabaseUrl: databaseUrl,
    systemDatabaseSchemaName: schema,
    systemDatabasePoolSize: 6,
    listenQueues: [application.queue],
    useListenNotify: false,
    enableOTLP: false,
    logger,
  });
  await ensurePGDatabase(databaseUrl, logger);
  await withLaunchLock({ databaseUrl, schema, signal }, () => DBOS.launch());
  // Limits that DBOS counts in the process: a worker that is killed must not use up a limit of others.
  await DBOS.registerQueue(application.queue, {
    workerConcurrency: maxRuns,
    partitionWorkerConcurrency: Math.min(maxRunsPerUser, maxRuns),
    minPollingIntervalMs: pollMs,
    onConflict: "always_update",
  });
}

/** The workflow of DBOS. It never fails: a segment that fails is added to the queue again. */
async function runSegmentWorkflow(segment: Segment): Promise<void> {
  const { engines, queue, settings } = current ?? {};
  try {
    const execute = engines?.get(segment.engine);
    if (execute) await execute(segment);
    else await queue?.add({ ...segment, attempt: segment.attempt + 1 }, Date.now() + unknownEngineDelayMs);
  } catch (error) {
    settings?.report(error); // `recover` asks for the segment again
  }
}
