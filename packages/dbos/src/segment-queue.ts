import { DBOSClient, type DLogger } from "@dbos-inc/dbos-sdk";
import { AgentError } from "capstan";
import type { SegmentRequest } from "capstan/engines/scheduled";
import { getScope } from "capstan/sessions";
import type { DbosSettings } from "./dbos-process.ts";

/** A request for a segment, as it is stored in the queue. */
export type Segment = Omit<SegmentRequest, "at"> & {
  /** The name of the engine that executes it. */
  readonly engine: string;
  /** How often it failed before. */
  readonly attempt: number;
};

export interface SegmentQueue {
  /** Stores a request, to be executed now or at a time. A request that is stored already stays as it is. */
  add(segment: Segment, at?: number): Promise<void>;
  /** Removes the requests that were executed longer ago than `retentionMs`. */
  removeOld(): Promise<void>;
  close(): Promise<void>;
}

/** All processes use these names, whatever their version: the newest code may execute any segment. */
export const application = { name: "capstan", version: "1", workflow: "segment", queue: "segments" } as const;

const addTimeoutMs = 5_000;
/** DBOS repeats a write for as long as its database is away. */
const maxPendingAdds = 1_000;
const batchSize = 500;
const maxBatches = 100;

/** Opens the queue for adding, once its tables are ready. Connects when it is used. */
export function openSegmentQueue(
  settings: DbosSettings,
  tablesReady: Promise<void> = Promise.resolve(),
): SegmentQueue {
  const { databaseUrl, schema, report, retentionMs } = settings;
  const opening = tablesReady.then(() =>
    DBOSClient.create({
      systemDatabaseUrl: databaseUrl,
      systemDatabaseSchemaName: schema,
      systemDatabasePoolSize: 4,
      applicationName: application.name,
      logger: createDbosLogger(report),
    }),
  );
  const pendingAdds = new Map<string, Promise<void>>();

  async function enqueue(workflowID: string, segment: Segment, at: number): Promise<void> {
    const { engine, sessionId } = segment;
    const delaySeconds = Math.ceil((at - Date.now()) / 1000);
    const client = await opening;
    await client.enqueue(
      {
        queueName: application.queue,
        workflowName: application.workflow,
        appVersion: application.version,
        workflowID,
        queuePartitionKey: `${engine}/${getScope(sessionId) || sessionId}`,
        ...(delaySeconds > 0 && { delaySeconds }),
      },
      segment,
    );
  }

  return {
    async add(segment, at = 0) {
      const { engine, key, attempt } = segment;
      const id = `${engine}/${key}${attempt > 0 ? ` #${attempt}` : ""}`;
      if (pendingAdds.size >= maxPendingAdds) throw createAddError(segment, "too many segments wait for it");
      const adding =
        pendingAdds.get(id) ??
        enqueue(id, segment, at)
          .catch((error) => Promise.reject(createAddError(segment, error.message)))
          .finally(() => pendingAdds.delete(id));
      pendingAdds.set(id, adding);
      const reason = `no answer within ${addTimeoutMs} ms`;
      await rejectAfter(adding, addTimeoutMs, () => createAddError(segment, reason));
    },
    async removeOld() {
      const client = await opening;
      const before = new Date(Date.now() - retentionMs).toISOString();
      // A worker that was killed leaves its segments pending.
      const finished = { status: ["SUCCESS", "ERROR", "CANCELLED"], completedBefore: before } as const;
      const abandoned = { status: ["PENDING"], dequeuedBefore: before } as const;
      for (const { status, ...filter } of [finished, abandoned])
        await removeWorkflows(client, { ...filter, status: [...status] });
    },
    close: async () => (await opening).destroy(),
  };
}

type WorkflowFilter = Parameters<DBOSClient["listWorkflows"]>[0];

async function removeWorkflows(client: DBOSClient, filter: WorkflowFilter): Promise<void> {
  const query = { ...filter, queueName: application.queue, limit: batchSize };
  for (let batch = 0; batch < maxBatches; batch++) {
    const found = await client.listWorkflows({ ...query, loadInput: false, loadOutput: false });
    if (found.length > 0) await client.deleteWorkflows(found.map(({ workflowID }) => workflowID));
    if (found.length < batchSize) return;
  }
}

function createAddError({ runId }: Segment, reason: string): AgentError {
  const message = `A segment of run "${runId}" could not be added to the queue of DBOS: ${reason}. It is added again when its database answers.`;
  return new AgentError("store_failed", message);
}

async function rejectAfter(
  promise: Promise<void>,
  timeoutMs: number,
  createError: () => Error,
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(createError()), timeoutMs);
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Passes warnings and errors on. Everything else that DBOS logs is about its normal work. */
export function createDbosLogger(report: (error: unknown) => void): DLogger {
  const onProblem = (message: unknown) => report(new AgentError("store_failed", `DBOS: ${message}`));
  return { debug: () => undefined, info: () => undefined, warn: onProblem, error: onProblem };
}
