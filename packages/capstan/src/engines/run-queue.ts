import type { Clock } from "../base/clock.ts";
import { AgentError, describeThrown } from "../base/errors.ts";
import { type Json, toCanonicalJson } from "../base/json.ts";
import type { Agent } from "../kernel/agent.ts";
import { type Entry, toPlainText } from "../kernel/history.ts";
import type { StoredRecord } from "../kernel/records.ts";
import { findSteeringText, type RunInput } from "../runtime/input.ts";
import { createRunMask, type ResumeOptions, type SharedStoreOptions } from "../runtime/open-run.ts";
import {
  addQueuedRun,
  changeQueuedRun,
  deleteQueue,
  findQueuedRun,
  listQueuedRuns,
  listRunIds,
  loadQueuedStart,
  type QueuedRun,
  removeQueuedRun,
  toListedRun,
  wasTaken,
} from "../runtime/queue.ts";
import { interruptReason } from "../runtime/queue-when-busy.ts";
import { buildRunStart, type RunOptions, runQueued } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { RunInfo, RunMessage, Store } from "../runtime/store.ts";
import { subscribe } from "../sessions/subscribe.ts";
import type { EnqueuedRun } from "./local-engine.ts";

/** A message to a busy session. */
export type BusyRequest = Omit<RunOptions, "store"> & {
  readonly agent: Agent;
  readonly input: RunInput;
  readonly session: string;
  readonly runId: string;
};

/** Runs that wait until their session is idle. The queue is in the store, so that any process starts them. */
export interface RunQueue {
  /** Does what the policy of a new message says while its session is busy. Resolves when the message is stored. */
  add(request: BusyRequest): Promise<EnqueuedRun>;
  /** Returns the id of the run that takes a message that was sent to an unfinished one. */
  findTaker(enqueued: EnqueuedRun, queuedAs: string): Promise<string>;
  /** Sends a message to a queued run, which can only be cancelled. False if the run is not queued. */
  send(runId: string, message: RunMessage): Promise<boolean>;
  /** Starts the next run of a session if the session is idle. Never rejects. */
  startNext(sessionId: string): Promise<void>;
  /** Resolves when no start is in progress. */
  whenIdle(): Promise<void>;
  /**
   * Returns a function that takes the queues as read afterwards, and forgets the options of runs that are in none of them:
   * other processes have started them.
   */
  watchOptions(): (queues: readonly StoredRecord[]) => void;
}

export type RunQueueOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly shared: SharedStoreOptions;
  resolveAgents(agent: string): Promise<readonly Agent[] | undefined>;
  getResumeOptions(run: RunInfo): Promise<ResumeOptions>;
  /** Sends a message to the unfinished run. */
  send(runId: string, message: RunMessage): Promise<void>;
  track(run: Run): Run;
  /** Called before an attempt to start a run, which may find its session busy. */
  onAttempt(runId: string): () => void;
  /** Called when the start of a queued run is stored. */
  readonly onStarted?: (run: Pick<QueuedRun, "runId" | "sessionId">) => Promise<void>;
};

export function createRunQueue(options: RunQueueOptions): RunQueue {
  const { store } = options;
  const ownOptions = new Map<string, ResumeOptions>();
  const context: QueueContext = { ...options, ownOptions };
  const attempts = new Map<string, Promise<void>>();

  /** One attempt at a time per session, because each one reads the queue. */
  function startNext(sessionId: string): Promise<void> {
    const before = attempts.get(sessionId) ?? Promise.resolve();
    const attempt = before.then(() => tryStartNext(context, sessionId)).catch(() => undefined); // the next poll tries again
    attempts.set(sessionId, attempt);
    return attempt.then(() => {
      if (attempts.get(sessionId) === attempt) attempts.delete(sessionId);
    });
  }

  return {
    async add(request) {
      const enqueued = await addRequest(context, request);
      if (enqueued.state === "queued") void startNext(request.session);
      return enqueued;
    },
    startNext,
    watchOptions() {
      const runIds = [...ownOptions.keys()];
      return (queues) => {
        const queuedIds = new Set(queues.flatMap(listRunIds));
        for (const runId of runIds) if (!queuedIds.has(runId)) ownOptions.delete(runId);
      };
    },
    async whenIdle() {
      await Promise.all(attempts.values());
    },
    async findTaker({ runId, state }, queuedAs) {
      if (state !== "steered") return runId;
      let isDelivered = false;
      for await (const event of subscribe(store, { runId })) {
        if (event.type === "steered" && event.queuedAs === queuedAs) isDelivered = true;
        if (event.type === "turn_start" && event.runId === runId && isDelivered) return runId;
      }
      return queuedAs;
    },
    async send(runId, message) {
      const queued = await findQueuedRun(store, runId);
      if (!queued) return false;
      if (message.type !== "cancel")
        throw new AgentError("invalid_input", `Run "${runId}" has not started. It can only be cancelled.`);
      const { reason = "The run was cancelled." } = message;
      await changeQueuedRun(store, queued, { cancelReason: reason });
      return true;
    },
  };
}

type QueueContext = RunQueueOptions & {
  /** Options of runs that were queued here. Another process that starts one has its own. */
  readonly ownOptions: Map<string, ResumeOptions>;
};

async function addRequest(context: QueueContext, request: BusyRequest): Promise<EnqueuedRun> {
  const { store, clock } = context;
  const { agent, input, session: sessionId, runId } = request;
  const body = buildRunStart(agent, input, request);
  const start = createRunMask(request.secrets)?.fact(body) ?? body;
  const { onBusy } = start.policy;
  await assertSameInput(store, { runId, sessionId }, start.input as unknown as Json);
  const current = await findUnfinished(store, sessionId);
  if (onBusy === "reject") throw createBusyError(sessionId, current);
  const text = onBusy === "steer" ? findSteeringText(start.input) : undefined;
  const steers = text === undefined ? undefined : current;
  const queued: QueuedRun = {
    ...{ runId, sessionId, agent: agent.name, queuedAt: clock.now(), text: previewText(start.input) },
    ...(onBusy === "interrupt" && { interrupts: true }),
    ...(steers !== undefined && { steers }),
  };
  await store.create(sessionId);
  await addQueuedRun(store, queued, start);
  context.ownOptions.set(runId, pickOptions(request));
  if (steers !== undefined && text !== undefined) {
    const message = { type: "steer", text, queuedAs: runId, key: runId } as const;
    if (await trySend(context, steers, message)) return { runId: steers, sessionId, state: "steered" };
    await changeQueuedRun(store, queued, { steers: undefined });
  } else if (onBusy === "interrupt" && current !== undefined)
    await trySend(context, current, { type: "cancel", reason: interruptReason, key: `interrupt ${current}` });
  return { runId, sessionId, state: "queued" };
}

/** False if the run has ended, or no process can resume it. */
async function trySend({ send }: QueueContext, runId: string, message: RunMessage): Promise<boolean> {
  try {
    await send(runId, message);
    return true;
  } catch (thrown) {
    if (!refusalCodes.includes(describeThrown(thrown, "store_failed").code)) throw thrown;
    return false;
  }
}

async function tryStartNext(context: QueueContext, sessionId: string): Promise<void> {
  const { store, shared } = context;
  while (!shared.shutdownSignal?.aborted) {
    const [next, ...others] = await listQueuedRuns(store, sessionId);
    if (!next) return;
    if ((await store.getSession(sessionId)) === undefined) return deleteQueue(store, sessionId);
    if (await store.findRun(next.runId)) await remove(context, next);
    else if ((await findUnfinished(store, sessionId)) !== undefined) return;
    else if (next.steers === undefined) return startQueuedRun(context, next, others);
    else if (await wasTaken(store, next)) await remove(context, next);
    else await changeQueuedRun(store, next, { steers: undefined });
  }
}

async function remove({ store, ownOptions }: QueueContext, queued: QueuedRun): Promise<void> {
  ownOptions.delete(queued.runId);
  await removeQueuedRun(store, queued);
}

/** Resolves when the start is stored. Rejects with `session_busy` when another process has the session. */
async function startQueuedRun(
  context: QueueContext,
  queued: QueuedRun,
  others: readonly QueuedRun[],
): Promise<void> {
  const { store, shared } = context;
  const { runId, sessionId, cancelReason } = queued;
  const agents = await context.resolveAgents(queued.agent);
  const agent = agents?.find(({ name }) => name === queued.agent);
  const start = await loadQueuedStart(store, queued);
  // A process that has the agent starts the run. A cancelled one needs none.
  if (!agent || !start) return cancelReason === undefined ? undefined : remove(context, queued);
  const info = { ...toListedRun(queued), state: "active" as const };
  const given = context.ownOptions.get(runId) ?? (await context.getResumeOptions(info));
  const stored = { runId, sessionId, start, onStarted: context.onAttempt(runId) };
  const handle = context.track(runQueued(agent, stored, { ...given, store, shared }));
  const isInterrupted = others.some(({ interrupts }) => interrupts);
  const reason = cancelReason ?? (isInterrupted ? interruptReason : undefined);
  if (reason !== undefined && !shared.startOnly) handle.cancel(reason);
  for await (const _ of handle) break;
  await remove(context, queued);
  if (reason !== undefined && shared.startOnly)
    await context.send(runId, { type: "cancel", reason, key: `cancel ${runId}` });
  await context.onStarted?.(queued);
}

/** The unfinished run cannot take a message. */
const refusalCodes: readonly string[] = ["run_ended", "unknown_run", "run_stuck", "newer_version"];

const maxPreviewLength = 200;

function previewText(entries: readonly Entry[]): string {
  const question = entries.findLast((entry) => entry.type === "user");
  const text = question ? toPlainText(question.content) : "";
  return text.length <= maxPreviewLength ? text : `${text.slice(0, maxPreviewLength).toWellFormed()}…`;
}

function pickOptions({ context, hooks, clock, secrets }: BusyRequest): ResumeOptions {
  return { context, ...(hooks && { hooks }), ...(clock && { clock }), ...(secrets && { secrets }) };
}

async function findUnfinished(store: Store, sessionId: string): Promise<string | undefined> {
  const newest = (await store.listRuns(sessionId, 1)).at(-1);
  return newest && newest.state !== "ended" ? newest.runId : undefined;
}

/** Throws if the id belongs to a queued run with other input. */
async function assertSameInput(
  store: Store,
  { runId, sessionId }: Pick<QueuedRun, "runId" | "sessionId">,
  input: Json,
): Promise<void> {
  const known = await loadQueuedStart(store, { runId, sessionId });
  if (!known || toCanonicalJson(known.input as unknown as Json) === toCanonicalJson(input)) return;
  const message = `Run "${runId}" is already queued with other input. Use another run id, or omit it.`;
  throw new AgentError("invalid_input", message);
}

function createBusyError(sessionId: string, runId: string | undefined): AgentError {
  const run = runId === undefined ? "queued runs" : `an unfinished run, "${runId}"`;
  const message = `Session "${sessionId}" has ${run}. Answer it, wait for it, or cancel it, or set \`policy.onBusy\`.`;
  return new AgentError("session_busy", message);
}
