import { backgroundClock, toClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { CallPreview } from "../features/calls/pending-calls.ts";
import type { TriedTurn } from "../features/exact-requests/stored-request.ts";
import { createProcessGate } from "../features/recovery/process-gate.ts";
import type { Agent } from "../kernel/agent.ts";
import { createId } from "../kernel/ids.ts";
import type { AgentCall, AgentOutput } from "../kernel/infer-agent.ts";
import type { RunInput } from "../runtime/input.ts";
import type { ExecutedRun, SharedStoreOptions } from "../runtime/open-run.ts";
import { queueKind } from "../runtime/queue.ts";
import { type RunOptions, resume, run } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { RunInfo, RunMessage } from "../runtime/store.ts";
import type { TurnRequest } from "../runtime/turn-request.ts";
import { rerun } from "../sessions/rerun.ts";
import { type AgentResolver, createAgentResolver } from "./agent-resolver.ts";
import { attachWhenBusy } from "./attach.ts";
import { enqueueRun, storeStart } from "./enqueue-run.ts";
import type {
  EnqueuedRun,
  FindAgent,
  LocalEngine,
  LocalOptions,
  PreviewOptions,
  TryOptions,
} from "./local-engine.ts";
import { createOutages, type SuspendedRun } from "./outages.ts";
import { startRecovery } from "./recovery.ts";
import { loadResumeOptions } from "./resume-options.ts";
import { createRunQueue, type RunQueue, type RunQueueOptions } from "./run-queue.ts";
import { createRunTracker, createUserShare, type RunTracker, type UserShare } from "./run-tracker.ts";
import { createScheduleRunner } from "./schedule-runner.ts";
import { createScheduledEngine } from "./scheduled.ts";
import { createRunReader, createStoredRun, type MessageCheck } from "./stored-run.ts";
import { assertResumable, type StuckFilter, type StuckRun } from "./stuck-runs.ts";
import type { TurnChanges } from "./try-turn.ts";

export type {
  CallPreview,
  EnqueuedRun,
  FindAgent,
  LocalEngine,
  LocalOptions,
  MessageCheck,
  PreviewOptions,
  StuckFilter,
  StuckRun,
  TriedTurn,
  TryOptions,
  TurnChanges,
  TurnRequest,
};

const defaultLeaseMs = 15_000;
const defaultMaxRuns = 500;

export function local<A extends Agent>(options: LocalOptions<A>): LocalEngine<AgentOutput<A>, AgentCall<A>>;
export function local(options: LocalOptions): LocalEngine {
  const { store } = options;
  if (options.work === false) return createScheduledEngine(options);
  const { assertKnown, resolveAgents } = createAgentResolver(options.agents);
  const scheduler = createScheduler(options, resolveAgents);
  const { runs, share, shared, getQueue, send } = scheduler;
  const startOnly = { ...shared, startOnly: true } as const;
  const hasCapacity = (session: string) =>
    runs.list().length < (options.maxRuns ?? defaultMaxRuns) && share.hasPlace(session);

  function assertUsable(agent: Agent): Agent {
    if (shared.shutdownSignal?.aborted)
      throw new AgentError("aborted", "The engine is closed. Create a new one.");
    return assertKnown(agent);
  }

  const clock = toClock(options.clock ?? backgroundClock);
  const location = { store, resolveAgents, clock };
  const open = (runId: string) =>
    createStoredRun({ ...location, runId, send: (message) => send(runId, message) });

  function start(agent: Agent, input: RunInput, runOptions: Omit<RunOptions, "store"> = {}): Run {
    const started = runs.track(run(assertUsable(agent), input, { ...runOptions, store, shared }));
    const { session, signal } = runOptions;
    if (runOptions.runId === undefined && session === undefined) return started;
    const { id: runId } = started;
    return attachWhenBusy(started, {
      signal,
      async attach() {
        if ((await store.findSession(runId)) !== undefined) return { run: open(runId) };
        if (session === undefined) return undefined;
        const enqueued = await getQueue().add({ ...runOptions, agent, input, session, runId });
        return { run: open(await getQueue().findTaker(enqueued, runId)) };
      },
    });
  }

  async function enqueue(
    agent: Agent,
    input: RunInput,
    runOptions: Omit<RunOptions, "store"> = {},
  ): Promise<EnqueuedRun> {
    const { session = createId("ses_"), runId = createId("run_") } = runOptions;
    const request = { ...runOptions, agent: assertUsable(agent), input, session, runId };
    const isNewSession = runOptions.session === undefined;
    return enqueueRun(request, {
      ...{ store, isNewSession, addToQueue: (busy) => getQueue().add(busy) },
      start: () =>
        storeStart(request, { store, shared: hasCapacity(session) ? shared : startOnly, track: runs.track }),
    });
  }

  const runner = createScheduleRunner({
    ...{ ...options, clock, enqueue, agents: { assertKnown, resolveAgents } },
    isWorker: options.startSchedules ?? true,
  });
  return {
    run: start as LocalEngine["run"],
    enqueue: enqueue as LocalEngine["enqueue"],
    ...{ schedule: runner.schedule, schedules: runner.schedules, open },
    ...createRunReader(location),
    rerun: async (rerunOptions) => {
      const agent = assertUsable(rerunOptions.agent);
      return rerun(store, { ...rerunOptions, agent, shared, onStarted: runs.track });
    },
    send,
    async recover() {
      const recovered = await scheduler.recover();
      await runner.startDue();
      return recovered;
    },
    async close() {
      await runner.close(); // first, so that the run of a schedule is released like the others
      await scheduler.close();
    },
  };
}

/** Lists stuck runs as the engine does, without executing any. */
export function listStuck(
  { store, agents }: Pick<LocalOptions, "store" | "agents">,
  filter?: StuckFilter,
): Promise<readonly StuckRun[]> {
  const location = { store, ...createAgentResolver(agents), clock: backgroundClock };
  return createRunReader(location).listStuck(filter);
}

/** Resumes stored runs in this process when they are orphaned, due, or receive a message. */
type Scheduler = Pick<LocalEngine, "send" | "recover" | "close"> & {
  readonly runs: RunTracker;
  readonly share: UserShare;
  readonly shared: SharedStoreOptions;
  getQueue(): RunQueue;
};

type TakeOverOptions = {
  /** Whether a message was sent to the run: it continues at once. */
  readonly isAnswered?: boolean;
  readonly isCancelled?: boolean;
  readonly isWakeup?: boolean;
};

function createScheduler(options: LocalOptions, resolveAgents: AgentResolver["resolveAgents"]): Scheduler {
  const { store, maxRuns = defaultMaxRuns } = options;
  const clock = toClock(options.clock ?? backgroundClock);
  const shutdown = new AbortController();
  const outages = createOutages({ clock, wake });
  const runs = createRunTracker(clock, outages.add);
  const share = createUserShare({ maxRuns, maxRunsPerUser: options.maxRunsPerUser });
  const shared = buildSharedOptions(options, {
    ...{ runs, share, shutdownSignal: shutdown.signal, onModelCall: outages.report },
    onRunEnd: (executed) => void queue.onRunEnd(executed),
  });
  const queue = createLazyQueue(options, { shared, resolveAgents, send, track: runs.track });

  /** Continues a run, unless another process is faster. */
  async function takeOver(info: RunInfo, how: TakeOverOptions = {}) {
    const { runId } = info;
    if (info.newerVersion !== undefined) return false; // a process of that version continues it
    const isLeft = () => shutdown.signal.aborted || !runs.isDue(runId) || outages.has(runId);
    if (isLeft()) return false;
    const resolving = resolveAgents(info.agent);
    // Cancelling needs no agent, so that a stuck run does not block its session for ever.
    const agents = how.isCancelled ? ((await resolving.catch(() => undefined)) ?? []) : await resolving;
    if (!agents) return false;
    const resumeOptions = await loadResumeOptions(options, info);
    if (isLeft() || !(how.isAnswered || share.hasPlace(info.sessionId))) return false;
    share.add(info);
    const isTakeover = !runs.takeFailure(runId);
    const ownShared = { ...shared, isTakeover, isWakeup: how.isWakeup ?? false };
    const handle = resume(agents, { store, runId }, { ...resumeOptions, shared: ownShared });
    const onSettled = () => share.remove(runId);
    runs.track(handle).then(onSettled, onSettled);
    return true;
  }

  /** Continues a suspended run before its time, because the provider of its model may be back. */
  async function wake({ runId, sessionId }: SuspendedRun): Promise<boolean> {
    if (runs.list().length >= maxRuns || !share.hasPlace(sessionId)) return false;
    const info = await store.findRun(runId);
    // Otherwise it has ended, or waits for an answer.
    if (info?.state === "active") await takeOver(info, { isWakeup: true });
    return true;
  }

  async function send(runId: string, message: RunMessage): Promise<void> {
    if (!(await store.findSession(runId)) && (await queue.get().send(runId, message))) return;
    await assertResumable({ store, resolveAgents }, runId, message);
    await store.sendMessage(runId, message);
    runs.unschedule(runId);
    outages.remove(runId); // a cancellation does not wait until the provider is back
    const [orphan] = await store.listOrphans({ runId });
    if (orphan) await takeOver(orphan, { isAnswered: true, isCancelled: message.type === "cancel" });
  }

  const recovery = startRecovery({
    ...{ store, clock, leaseMs: shared.leaseMs, takeOver },
    countFreePlaces: () => (shutdown.signal.aborted ? 0 : maxRuns - runs.list().length),
    async startQueued() {
      outages.wakeDueRuns(); // the machine may have slept
      await queue.startAll(() => runs.list().length < maxRuns);
    },
  });

  async function close(): Promise<void> {
    recovery.close();
    outages.close();
    shutdown.abort();
    await queue.whenIdle();
    await runs.whenIdle();
  }
  return { runs, share, shared, getQueue: queue.get, send, recover: recovery.recover, close };
}

/** The queue of an engine, which most engines never use: it is created when a run has to wait. */
type LazyQueue = {
  get(): RunQueue;
  /** Starts the next run of every session, while there is capacity. */
  startAll(hasCapacity: () => boolean): Promise<void>;
  /** Starts the next run of the session. Never rejects: if the store cannot be read now, the next poll tries again. */
  onRunEnd(run: ExecutedRun): Promise<void>;
  whenIdle(): Promise<void>;
};

function createLazyQueue(
  { store, clock = backgroundClock, ...options }: LocalOptions,
  scheduler: Pick<RunQueueOptions, "shared" | "resolveAgents" | "send" | "track">,
): LazyQueue {
  /** Queued runs that this process tries to start. */
  const attempts = new Set<string>();
  const { shutdownSignal } = scheduler.shared;
  let queue: RunQueue | undefined;
  function get(): RunQueue {
    queue ??= createRunQueue({
      ...{ ...scheduler, store, clock: toClock(clock) },
      getResumeOptions: async (info) => (await options.getResumeOptions?.(info)) ?? {},
      onAttempt(runId) {
        attempts.add(runId);
        return () => attempts.delete(runId);
      },
    });
    return queue;
  }
  return {
    get,
    async startAll(hasCapacity) {
      const forget = queue?.watchOptions();
      const records = await store.listRecords(queueKind);
      forget?.(records);
      for (const { id } of records) if (hasCapacity()) await get().startNext(id);
    },
    async onRunEnd({ runId, sessionId }) {
      // An attempt that found its session busy must not cause the next one.
      if (attempts.delete(runId) || shutdownSignal?.aborted) return;
      const record = await store.getRecord(queueKind, sessionId).catch(() => undefined);
      if (record) await get().startNext(sessionId);
    },
    whenIdle: async () => queue?.whenIdle(),
  };
}

type SharedParts = Pick<SharedStoreOptions, "shutdownSignal" | "onModelCall" | "onRunEnd"> & {
  readonly runs: RunTracker;
  readonly share: UserShare;
};

function buildSharedOptions(
  options: LocalOptions,
  { runs, share, onRunEnd, ...signals }: SharedParts,
): SharedStoreOptions {
  const { leaseMs = defaultLeaseMs, owner = createId("local_"), snapshotEvery } = options;
  const clock = toClock(options.clock ?? backgroundClock);
  const gate = createProcessGate(clock, leaseMs);
  return {
    ...{ owner, leaseMs, gate, clock, snapshotEvery, ...signals },
    onRunStart(executed) {
      runs.onStart(executed.runId);
      share.add(executed);
      options.onRunStart?.(executed);
    },
    onRunEnd(executed) {
      runs.onEnd(executed.runId);
      share.remove(executed.runId);
      options.onRunEnd?.(executed);
      onRunEnd?.(executed);
    },
  };
}
