import { type Agent, indexAgents } from "../agent.ts";
import { backgroundClock, type Clock, repeatEvery } from "../clock.ts";
import { AgentError, describeThrown } from "../errors.ts";
import { createId } from "../ids.ts";
import { createProcessGate } from "../loop/process-gate.ts";
import type { TurnRequest } from "../perform/turn-request.ts";
import type { RunInput } from "../run/input.ts";
import type { ExecutedRun, ResumeOptions, SharedStoreOptions } from "../run/open-run.ts";
import type { Result } from "../run/result.ts";
import { type RunOptions, resume, run } from "../run/run.ts";
import type { Run } from "../run/run-handle.ts";
import { type Rerun, type RerunOptions, rerun } from "../sessions/rerun.ts";
import type { RunInfo, RunMessage, Store } from "../store.ts";
import { attachWhenBusy } from "./attach.ts";
import {
  checkStoredMessage,
  createStoredRun,
  loadResult,
  loadRunState,
  loadTurnRequest,
  type MessageCheck,
} from "./stored-run.ts";
import { assertResumable, listStuckRuns, type StuckRun } from "./stuck-runs.ts";

export type { MessageCheck, StuckRun, TurnRequest };

/** Returns the agent with this name, with the agents it hands off to; undefined when it does not exist. */
export type FindAgent = (name: string) => Agent | undefined | Promise<Agent | undefined>;

export type LocalOptions = {
  readonly store: Store;
  /** Every agent that a stored run may need, or a function that finds one by name, where agents change at run time. */
  readonly agents: Agent | readonly Agent[] | FindAgent;
  /** Identifies this process in facts and leases. Default: a generated name. */
  readonly owner?: string;
  /** Another process may take over a run after this long without a sign of life. Default: 15 seconds. */
  readonly leaseMs?: number;
  /** The clock for leases and for finding orphaned runs. Default: the machine's. */
  readonly clock?: Clock;
  /** Facts after which a run stores a snapshot of its session, so that opening the session is cheap. Default: 300. */
  readonly snapshotEvery?: number;
  /** While it executes this many runs, it takes over no more. Default: 500. Messages are always accepted. */
  readonly maxRuns?: number;
  /** Options of runs that were started elsewhere: their `context`, hooks and secrets are not stored. */
  readonly getResumeOptions?: (run: RunInfo) => ResumeOptions | Promise<ResumeOptions>;
  /** Called when this process starts to execute a run, also after a wait, and when it suspends or ends. */
  readonly onRunStart?: (run: ExecutedRun) => void;
  readonly onRunEnd?: (run: ExecutedRun) => void;
};

/** Runs on a store that outlives the process. Any number of processes may share the store. */
export interface LocalEngine {
  /**
   * Starts a run of one of the agents. With the `runId` of a stored run and the same input, the handle follows that run:
   * another process may execute it, or take it over when its process is gone.
   */
  run(agent: Agent, input: RunInput, options?: Omit<RunOptions, "store">): Run;
  /** Opens a stored run, whichever process executes it: await or iterate it, approve, steer, cancel. */
  open(runId: string): Run;
  /** Returns the result of a run so far, without waiting. A run that is still active has the status `waiting`. */
  getResult(runId: string): Promise<Result>;
  /** Rebuilds the request of a turn from the facts. Calls no model. Rejects with `not_found`. */
  getTurnRequest(
    runId: string,
    turn: number,
    options?: Pick<ResumeOptions, "context" | "secrets">,
  ): Promise<TurnRequest>;
  /** Runs again in a fork. The new run is recovered like any other. */
  rerun(options: RerunOptions): Promise<Rerun>;
  /**
   * Checks a message before it is sent. Rejects when the run, in its
   * current state, cannot accept it: with `unknown_call`, `approval_conflict`, `idempotency_conflict`, `run_ended`,
   * `run_stuck`, or `invalid_input` for an answer that does not match the schema of its question.
   */
  checkMessage(runId: string, message: RunMessage): Promise<MessageCheck>;
  /**
   * Sends a message to a run, and resumes the run when no process executes it. Resolves when the message is stored.
   * Rejects with `run_stuck` if this process cannot resume the run, except to cancel it, and with `newer_version`.
   */
  send(runId: string, message: RunMessage): Promise<void>;
  /** Takes over runs whose process is gone, and returns their ids. Also called automatically, at the start and then regularly. */
  recover(): Promise<readonly string[]>;
  /** Lists the unfinished runs that no process executes and this one cannot continue, with the reason. */
  listStuck(): Promise<readonly StuckRun[]>;
  /** Stops after the current step and releases its runs, so that another process can resume them. */
  close(): Promise<void>;
}

const defaultLeaseMs = 15_000;
const defaultMaxRuns = 500;
/** A run that cannot continue is tried again after this long: the agents of a process may change. */
const retryStuckMs = 60_000;
const stuckCodes: readonly string[] = ["unknown_agent", "newer_version"];

export function local(options: LocalOptions): LocalEngine {
  const { store, leaseMs = defaultLeaseMs, owner = createId("local_"), clock = backgroundClock } = options;
  const { maxRuns = defaultMaxRuns, onRunStart, onRunEnd, snapshotEvery } = options;
  const { assertKnown, resolveAgents } = createAgentResolver(options.agents);
  const shutdown = new AbortController();
  const runs = createRunTracker(clock, () => poll());
  const shutdownSignal = shutdown.signal;
  const gate = createProcessGate(clock, leaseMs);
  const settings = { owner, leaseMs, gate, clock, snapshotEvery };
  const shared: SharedStoreOptions = { ...settings, onRunStart, onRunEnd, shutdownSignal };

  /** Continues a run, unless another process is faster. */
  async function takeOver(info: RunInfo, isCancelled = false): Promise<boolean> {
    if (info.newerVersion !== undefined) return false; // a process of that version continues it
    if (shutdownSignal.aborted || !runs.isDue(info.runId)) return false;
    const resolving = resolveAgents(info.agent);
    // Cancelling needs no agent, so that a stuck run does not block its session for ever.
    const agents = isCancelled ? ((await resolving.catch(() => undefined)) ?? []) : await resolving;
    if (!agents) return false;
    const resumeOptions = (await options.getResumeOptions?.(info)) ?? {};
    if (shutdownSignal.aborted || !runs.isDue(info.runId)) return false;
    const isTakeover = info.state === "active" && !runs.takeFailure(info.runId);
    const source = { store, runId: info.runId };
    const handle = resume(agents, source, { ...resumeOptions, shared: { ...shared, isTakeover } });
    runs.track(handle).then(undefined, () => undefined);
    return true;
  }

  async function recover(): Promise<readonly string[]> {
    const recovered: string[] = [];
    for (const info of await store.listOrphans()) {
      if (runs.list().length >= maxRuns) break;
      // A run that cannot be taken over now must not hold up the others.
      if (await takeOver(info).catch(() => false)) recovered.push(info.runId);
    }
    return recovered;
  }

  async function send(runId: string, message: RunMessage): Promise<void> {
    await assertResumable({ store, resolveAgents }, runId, message);
    await store.sendMessage(runId, message);
    runs.unschedule(runId);
    const orphan = (await store.listOrphans()).find((info) => info.runId === runId);
    if (orphan) await takeOver(orphan, message.type === "cancel");
  }

  function assertUsable(agent: Agent): Agent {
    if (shutdownSignal.aborted) throw new AgentError("aborted", "The engine is closed. Create a new one.");
    return assertKnown(agent);
  }

  // If the store cannot be read now, the next poll tries again.
  const poll = () => void recover().catch(() => undefined);
  const stopPolling = repeatEvery(clock, leaseMs / 2, poll);
  poll();

  const open = (runId: string) =>
    createStoredRun({ store, resolveAgents, runId, send: (message) => send(runId, message) });

  return {
    run(agent, input, runOptions = {}) {
      const started = runs.track(run(assertUsable(agent), input, { ...runOptions, store, shared }));
      return runOptions.runId === undefined ? started : attachWhenBusy(started, { store, open });
    },
    open,
    ...createRunReader({ store, resolveAgents }),
    rerun: async (rerunOptions) => {
      const agent = assertUsable(rerunOptions.agent);
      return rerun(store, { ...rerunOptions, agent, shared, onStarted: runs.track });
    },
    send,
    recover,
    async close() {
      stopPolling();
      shutdown.abort();
      await Promise.allSettled(runs.list().map(async (handle) => handle));
    },
  };
}

type RunReader = Pick<LocalEngine, "getResult" | "getTurnRequest" | "checkMessage" | "listStuck">;

/** Reads runs from the store, whichever process executes them. */
function createRunReader(
  source: Pick<AgentResolver, "resolveAgents"> & { readonly store: Store },
): RunReader {
  return {
    getResult: (runId) => loadResult({ ...source, runId }),
    getTurnRequest: (runId, turn, options = {}) => loadTurnRequest({ ...source, runId }, turn, options),
    checkMessage: (runId, message) => checkStoredMessage({ ...source, runId }, message),
    listStuck: () => listStuckRuns(source, (runId) => loadRunState({ ...source, runId })),
  };
}

/** The runs that this process executes, or resumes at a known time. */
interface RunTracker {
  /** Lists a run until it suspends or ends. */
  track(handle: Run): Run;
  list(): readonly Run[];
  /** False while this process executes the run, and before the time the run waits for. */
  isDue(runId: string): boolean;
  /** Makes a run due before the time it waits for: it has received a message. */
  unschedule(runId: string): void;
  /** Whether the run failed here because of its store or its agents, so that no process is gone. Forgets it. */
  takeFailure(runId: string): boolean;
}

function createRunTracker(clock: Clock, poll: () => void): RunTracker {
  const activeRuns = new Map<string, Run>();
  const failedRuns = new Set<string>();
  const scheduledRuns = new Map<string, number>();
  return {
    track(handle) {
      activeRuns.set(handle.id, handle);
      const removeRun = () => {
        if (activeRuns.get(handle.id) === handle) activeRuns.delete(handle.id);
      };
      const onSuspend = ({ until }: Result) => {
        removeRun();
        if (until === undefined) return;
        scheduledRuns.set(handle.id, until);
        clock.after(Math.max(0, until - clock.now()), poll);
      };
      handle.then(onSuspend, (thrown) => {
        const { code } = describeThrown(thrown, "store_failed");
        if (code.startsWith("store_") || stuckCodes.includes(code)) failedRuns.add(handle.id);
        if (stuckCodes.includes(code)) scheduledRuns.set(handle.id, clock.now() + retryStuckMs);
        removeRun();
      });
      return handle;
    },
    list: () => [...activeRuns.values()],
    isDue(runId) {
      if (activeRuns.has(runId) || (scheduledRuns.get(runId) ?? 0) > clock.now()) return false;
      scheduledRuns.delete(runId);
      return true;
    },
    unschedule: (runId) => void scheduledRuns.delete(runId),
    takeFailure: (runId) => failedRuns.delete(runId),
  };
}

type AgentResolver = {
  /** Returns every agent that a run of this agent may need; undefined when the agent does not exist. */
  resolveAgents(name: string): Promise<readonly Agent[] | undefined>;
  /** Returns the agent. Throws when other processes could not find it. */
  assertKnown(agent: Agent): Agent;
};

function createAgentResolver(agents: LocalOptions["agents"]): AgentResolver {
  if (typeof agents === "function") {
    return {
      async resolveAgents(name) {
        const agent = await agents(name);
        return agent && [agent];
      },
      assertKnown: (agent) => agent,
    };
  }
  const byName = indexAgents(agents);
  return {
    resolveAgents: async (name) => (byName.has(name) ? [...byName.values()] : undefined),
    assertKnown(agent) {
      if (byName.get(agent.name) === agent) return agent;
      const message = `Agent "${agent.name}" was not passed to the engine, so no other process could resume its runs. Add it to \`agents\`.`;
      throw new AgentError("unknown_agent", message);
    },
  };
}
