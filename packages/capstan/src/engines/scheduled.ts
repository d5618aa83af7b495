import { backgroundClock, type Clock, repeatEvery, toClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { createProcessGate } from "../features/recovery/process-gate.ts";
import type { Agent } from "../kernel/agent.ts";
import { createId } from "../kernel/ids.ts";
import type { RunInput } from "../runtime/input.ts";
import type { SharedStoreOptions } from "../runtime/open-run.ts";
import { queueKind } from "../runtime/queue.ts";
import type { Result } from "../runtime/result.ts";
import type { RunOptions } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { RunInfo, RunMessage, Store } from "../runtime/store.ts";
import { type Rerun, type RerunOptions, rerun } from "../sessions/rerun.ts";
import { type AgentResolver, createAgentResolver } from "./agent-resolver.ts";
import { enqueueRun, followEnqueued, storeStart } from "./enqueue-run.ts";
import type { EnqueuedRun, LocalEngine } from "./local-engine.ts";
import { loadResumeOptions } from "./resume-options.ts";
import { createRunQueue, type RunQueue } from "./run-queue.ts";
import { defaultLeaseMs, runSegment } from "./run-segment.ts";
import { createScheduleRunner } from "./schedule-runner.ts";
import type { ScheduledEngine, ScheduledOptions, SegmentRequest } from "./scheduled-engine.ts";
import { createRunReader, createStoredRun, loadResult } from "./stored-run.ts";
import { assertResumable } from "./stuck-runs.ts";

export type { ScheduledEngine, ScheduledOptions, SegmentRequest };

/**
 * Creates an engine that stores starts and messages and has segments executed by another system: a durable executor, a
 * queue, or workers that poll the store. The log of facts is the journal; the other system only decides when and where a
 * segment executes.
 */
export function createScheduledEngine(options: ScheduledOptions): ScheduledEngine {
  const context = createContext(options);
  const { store, shutdown, queue, agents, clock, scheduleStart } = context;
  const location = { store, resolveAgents: agents.resolveAgents, clock };
  const open = (runId: string) =>
    createStoredRun({ ...location, runId, send: (message) => send(context, runId, message) });

  function assertUsable(agent: Agent): Agent {
    if (shutdown.signal.aborted) throw new AgentError("aborted", "The engine is closed. Create a new one.");
    return agents.assertKnown(agent);
  }

  async function enqueue(agent: Agent, input: RunInput, runOptions: EngineRunOptions = {}) {
    const { session = createId("ses_"), runId = createId("run_") } = runOptions;
    const request = { ...runOptions, agent: assertUsable(agent), input, session, runId };
    const enqueued = await enqueueRun(request, {
      ...{ store, isNewSession: runOptions.session === undefined, addToQueue: queue.add },
      start: () => storeStart(request, { store, shared: context.startOnly, track: (run) => run }),
    });
    if (enqueued.state === "started" || enqueued.state === "found") await scheduleStart(enqueued);
    return enqueued;
  }

  function start(agent: Agent, input: RunInput, runOptions: EngineRunOptions = {}): Run {
    const { runId = createId("run_"), signal } = runOptions;
    assertUsable(agent);
    return followEnqueued(runId, {
      signal,
      async enqueue() {
        const enqueued = await enqueue(agent, input, { ...runOptions, runId });
        return { run: open(await queue.findTaker(enqueued, runId)) };
      },
    });
  }

  async function rerunStored(rerunOptions: RerunOptions): Promise<Rerun> {
    const agent = assertUsable(rerunOptions.agent);
    if (rerunOptions.model !== undefined) {
      const message = "A run on workers cannot be repeated with another model: use an agent that has it.";
      throw new AgentError("invalid_input", message);
    }
    const stored = await rerun(store, { ...rerunOptions, agent, shared: context.startOnly });
    await scheduleStart({ runId: stored.run.id, sessionId: stored.session });
    return { ...stored, run: open(stored.run.id) };
  }

  const isWorker = options.schedule !== undefined && options.startSchedules !== false;
  const runner = createScheduleRunner({ ...options, clock, agents, enqueue, isWorker });
  async function recover() {
    const scheduled = await scheduleOrphans(context);
    await runner.startDue();
    return scheduled;
  }
  const everyMs = options.recoverEveryMs ?? context.leaseMs / 2;
  const poll = () => void recover().catch(() => undefined); // the next poll tries again
  const stopPolling = options.schedule ? repeatEvery(clock, everyMs, poll) : () => undefined;
  return {
    isRemote: true,
    run: start as LocalEngine["run"],
    enqueue: enqueue as LocalEngine["enqueue"],
    ...{ schedule: runner.schedule, schedules: runner.schedules },
    ...{ open, ...createRunReader(location), rerun: rerunStored, recover },
    send: (runId, message) => send(context, runId, message),
    executeSegment: ({ runId }) => executeSegment(context, runId),
    async close() {
      stopPolling();
      await runner.close();
      shutdown.abort();
      await queue.whenIdle();
      await Promise.allSettled(context.segments);
    },
  };
}

/** Orphaned runs that are read at once. */
const pageSize = 100;

type EngineRunOptions = Omit<RunOptions, "store">;

type EngineContext = {
  readonly options: ScheduledOptions;
  readonly store: Store;
  readonly leaseMs: number;
  readonly owner: string;
  readonly clock: Clock;
  readonly agents: AgentResolver;
  readonly shutdown: AbortController;
  /** Stores the start of a run without executing it. */
  readonly startOnly: SharedStoreOptions;
  readonly queue: RunQueue;
  /** The segments that this process executes. */
  readonly segments: Set<Promise<unknown>>;
  /** Never rejects: the start or the message is stored, and `recover` repeats the request. */
  schedule(request: SegmentRequest): Promise<void>;
  scheduleStart(run: Pick<EnqueuedRun, "runId" | "sessionId">): Promise<void>;
};

function createContext(options: ScheduledOptions): EngineContext {
  const { store, leaseMs = defaultLeaseMs, owner = createId("worker_") } = options;
  const clock = toClock(options.clock ?? backgroundClock);
  const agents = createAgentResolver(options.agents);
  const shutdown = new AbortController();
  const gate = createProcessGate(clock, leaseMs);
  const startOnly: SharedStoreOptions = { owner, leaseMs, gate, clock, startOnly: true };
  const schedule: EngineContext["schedule"] = async (request) => {
    await options.schedule?.(request).catch((error) => options.onScheduleError?.(error));
  };
  const scheduleStart: EngineContext["scheduleStart"] = ({ runId, sessionId }) =>
    schedule({ type: "start", runId, sessionId, key: runId });
  const queue = createRunQueue({
    ...{ store, clock, shared: { ...startOnly, shutdownSignal: shutdown.signal } },
    resolveAgents: agents.resolveAgents,
    getResumeOptions: async (info) => (await options.getResumeOptions?.(info)) ?? {},
    send: (runId, message) => send(context, runId, message),
    track: (run) => run,
    onAttempt: () => () => undefined,
    onStarted: scheduleStart,
  });
  const segments = new Set<Promise<unknown>>();
  const context: EngineContext = {
    ...{ options, store, leaseMs, owner, clock, agents, shutdown, startOnly, queue, segments },
    ...{ schedule, scheduleStart },
  };
  return context;
}

async function send(
  { store, queue, agents, schedule }: EngineContext,
  runId: string,
  message: RunMessage,
): Promise<void> {
  const sessionId = await store.findSession(runId);
  if (sessionId === undefined && (await queue.send(runId, message))) return;
  await assertResumable({ store, resolveAgents: agents.resolveAgents }, runId, message);
  await store.sendMessage(runId, message);
  if (sessionId !== undefined)
    await schedule({ type: "wake", runId, sessionId, key: `${runId} ${message.key}` });
}

/** Asks again for the segments of runs that no process executes. */
async function scheduleOrphans({ store, queue, clock, leaseMs, schedule, options }: EngineContext) {
  if (!options.schedule) return [];
  const scheduled: string[] = [];
  for (let isLast = false; !isLast; ) {
    // Claimed, so that of several processes one asks.
    const page = await store.listOrphans({ limit: pageSize, claimMs: leaseMs });
    isLast = page.length < pageSize;
    for (const { runId, sessionId, updatedAt, newerVersion } of page) {
      // Recent ones were scheduled when they were stored.
      if (newerVersion !== undefined || clock.now() - updatedAt < leaseMs) continue;
      // A request may have been lost together with its worker, so it is repeated now and then.
      const period = Math.floor(clock.now() / (4 * leaseMs));
      await schedule({ type: "wake", runId, sessionId, key: `${runId} ${updatedAt} ${period}` });
      scheduled.push(runId);
    }
  }
  for (const { id } of await store.listRecords(queueKind)) await queue.startNext(id);
  return scheduled;
}

async function executeSegment(context: EngineContext, runId: string): Promise<Result> {
  const { store, queue, agents, clock, options, segments } = context;
  const info = await store.findRun(runId);
  if (!info) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
  const { sessionId, state } = info;
  const hasWork = state === "active" || (state === "waiting" && (await store.listMessages(runId)).length > 0);
  const executing = hasWork
    ? executeRun(context, info)
    : loadResult({ store, resolveAgents: agents.resolveAgents, clock, runId });
  segments.add(executing);
  const result = await executing.finally(() => segments.delete(executing));
  if (result.status !== "waiting") await queue.startNext(sessionId);
  const { until: at } = result;
  if (at !== undefined)
    await options.schedule?.({ type: "wake", runId, sessionId, key: `${runId} ${at}`, at });
  return result;
}

async function executeRun(context: EngineContext, info: RunInfo): Promise<Result> {
  const { store, options, owner, leaseMs, clock, shutdown } = context;
  const agents = await findAgents(context, info);
  const resumeOptions = await loadResumeOptions(options, info);
  const segmentOptions = {
    ...resumeOptions,
    ...{ owner, leaseMs, leaseClock: clock, takeOver: options.takeOver ?? false },
    ...{ shutdownSignal: shutdown.signal, snapshotEvery: options.snapshotEvery },
    ...{ onRunStart: options.onRunStart, onRunEnd: options.onRunEnd },
  };
  return runSegment(agents, { store, runId: info.runId }, segmentOptions);
}

/** Cancelling needs no agent, so that a stuck run does not block its session for ever. */
async function findAgents({ store, agents }: EngineContext, info: RunInfo): Promise<readonly Agent[]> {
  const { runId, agent: name } = info;
  const isCancelled = async () => (await store.listMessages(runId)).some(({ type }) => type === "cancel");
  try {
    const found = await agents.resolveAgents(name);
    if (found) return found;
  } catch (thrown) {
    if (await isCancelled()) return [];
    throw thrown;
  }
  if (await isCancelled()) return [];
  const message = `The agent "${name}" of run "${runId}" is not configured in this process. Add it to the agents, or cancel the run.`;
  throw new AgentError("unknown_agent", message);
}
