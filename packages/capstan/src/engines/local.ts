import { type Agent, indexAgents } from "../agent.ts";
import { backgroundClock, type ClockOption, repeatEvery, toClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Json } from "../json.ts";
import { createProcessGate } from "../loop/process-gate.ts";
import type { TurnRequest } from "../perform/turn-request.ts";
import type { RunInput } from "../run/input.ts";
import type { ExecutedRun, ResumeOptions, SharedStoreOptions } from "../run/open-run.ts";
import type { Result } from "../run/result.ts";
import { type OptionsFor, type RunOptions, resume, run } from "../run/run.ts";
import type { Run } from "../run/run-handle.ts";
import type { AgentCall, AgentContext, AgentOutput } from "../schema/infer-agent.ts";
import { type Rerun, type RerunOptions, rerun } from "../sessions/rerun.ts";
import type { RunInfo, RunMessage, Store } from "../store.ts";
import type { ToolCall } from "../tool.ts";
import { attachWhenBusy } from "./attach.ts";
import { createOutages, type SuspendedRun } from "./outages.ts";
import { createRunTracker, type RunTracker } from "./run-tracker.ts";
import {
  checkStoredMessage,
  createStoredRun,
  loadResult,
  loadRunState,
  loadTurnRequest,
  type MessageCheck,
  type RunLocation,
} from "./stored-run.ts";
import { assertResumable, listStuckRuns, type StuckFilter, type StuckRun } from "./stuck-runs.ts";

export type { MessageCheck, StuckFilter, StuckRun, TurnRequest };

/** Returns the agent with this name, with the agents it hands off to; undefined when it does not exist. */
export type FindAgent<A extends Agent = Agent> = (name: string) => A | undefined | Promise<A | undefined>;

export type LocalOptions<A extends Agent = Agent> = {
  readonly store: Store;
  /** Every agent that a stored run may need, or a function that finds one by name, where agents change at run time. */
  readonly agents: A | readonly A[] | FindAgent<A>;
  /** Identifies this process in facts and leases. Default: a generated name. */
  readonly owner?: string;
  /** Another process may take over a run after this long without a sign of life. Default: 15 seconds. */
  readonly leaseMs?: number;
  /** The clock for leases, orphaned runs, and approvals that arrive. Default: the machine's. */
  readonly clock?: ClockOption;
  /** Facts after which a run stores a snapshot of its session, so that opening the session is cheap. Default: 300. */
  readonly snapshotEvery?: number;
  /** While it executes this many runs, it takes over no more. Default: 500. Messages are always accepted. */
  readonly maxRuns?: number;
  /** Called when this process starts to execute a run, also after a wait, and when it suspends or ends. */
  readonly onRunStart?: (run: ExecutedRun) => void;
  readonly onRunEnd?: (run: ExecutedRun) => void;
} & ResumeOptionsSource<AgentContext<A>, ResumeOptions<AgentContext<A>, AgentCall<A>>>;

/** Returns the options of runs that were started elsewhere: their `context`, hooks and secrets are not stored. */
type ResumeOptionsSource<Context, Options> = undefined extends Context
  ? { readonly getResumeOptions?: (run: RunInfo) => Options | Promise<Options> }
  : {
      readonly getResumeOptions: (
        run: RunInfo,
      ) => WithContext<Context, Options> | Promise<WithContext<Context, Options>>;
    };
type WithContext<Context, Options> = Options & { readonly context: Context };

/** Runs on a store that outlives the process. Any number of processes may share the store. */
export interface LocalEngine<Output = Json | undefined, Call extends ToolCall = ToolCall> {
  /**
   * Starts a run of one of the agents. With the `runId` of a stored run and the same input, the handle follows that run:
   * another process may execute it, or take it over when its process is gone.
   */
  run<A extends Agent>(
    agent: A,
    input: RunInput,
    ...optionsWithContext: OptionsFor<A, Omit<RunOptions<AgentContext<A>, AgentCall<A>>, "store">>
  ): Run<AgentOutput<A>, AgentCall<A>>;
  /** Opens a stored run, whichever process executes it: await or iterate it, approve, steer, cancel. */
  open(runId: string): Run<Output, Call>;
  /** Returns the result of a run so far, without waiting. A run that is still active has the status `waiting`. */
  getResult(runId: string): Promise<Result<Output, Call>>;
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
   * current state, cannot accept it: with `unknown_call`, `approval_conflict`, `approval_expired`,
   * `idempotency_conflict`, `run_ended`, `run_stuck`, or `invalid_input` for an answer that does not match the schema of
   * its question. If an expired approval is sent nevertheless, the run continues with the call denied.
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
  listStuck(filter?: StuckFilter): Promise<readonly StuckRun[]>;
  /** Stops after the current step and releases its runs, so that another process can resume them. */
  close(): Promise<void>;
}

const defaultLeaseMs = 15_000;
const defaultMaxRuns = 500;

export function local<A extends Agent>(options: LocalOptions<A>): LocalEngine<AgentOutput<A>, AgentCall<A>>;
export function local(options: LocalOptions): LocalEngine {
  const { store } = options;
  const { assertKnown, resolveAgents } = createAgentResolver(options.agents);
  const { runs, shared, send, recover, close } = createScheduler(options, resolveAgents);

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
    return runOptions.runId === undefined ? started : attachWhenBusy(started, { store, open });
  }

  return {
    run: start as LocalEngine["run"],
    open,
    ...createRunReader(location),
    rerun: async (rerunOptions) => {
      const agent = assertUsable(rerunOptions.agent);
      return rerun(store, { ...rerunOptions, agent, shared, onStarted: runs.track });
    },
    send,
    recover,
    close,
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
  readonly shared: SharedStoreOptions;
};

function createScheduler(options: LocalOptions, resolveAgents: AgentResolver["resolveAgents"]): Scheduler {
  const { store, maxRuns = defaultMaxRuns } = options;
  const clock = toClock(options.clock ?? backgroundClock);
  const shutdown = new AbortController();
  const outages = createOutages({ clock, wake });
  const runs = createRunTracker(clock, outages.add);
  const shared = buildSharedOptions(options, {
    shutdownSignal: shutdown.signal,
    onModelCall: outages.report,
    onRunStart(executed) {
      runs.onStart(executed.runId);
      options.onRunStart?.(executed);
    },
    onRunEnd(executed) {
      runs.onEnd(executed.runId);
      options.onRunEnd?.(executed);
    },
  });

  /** Continues a run, unless another process is faster. */
  async function takeOver(info: RunInfo, how: { isCancelled?: boolean; isWakeup?: boolean } = {}) {
    const { runId } = info;
    if (info.newerVersion !== undefined) return false; // a process of that version continues it
    const isLeft = () => shutdown.signal.aborted || !runs.isDue(runId) || outages.has(runId);
    if (isLeft()) return false;
    const resolving = resolveAgents(info.agent);
    // Cancelling needs no agent, so that a stuck run does not block its session for ever.
    const agents = how.isCancelled ? ((await resolving.catch(() => undefined)) ?? []) : await resolving;
    if (!agents) return false;
    const resumeOptions = (await options.getResumeOptions?.(info)) ?? {};
    if (isLeft()) return false;
    const isTakeover = info.state === "active" && !runs.takeFailure(runId);
    const { isWakeup = false } = how;
    const ownShared = { ...shared, isTakeover, isWakeup };
    const handle = resume(agents, { store, runId }, { ...resumeOptions, shared: ownShared });
    runs.track(handle).then(undefined, () => undefined);
    return true;
  }

  /** Continues a suspended run before its time, because the provider of its model may be back. */
  async function wake({ runId, sessionId }: SuspendedRun): Promise<boolean> {
    if (runs.list().length >= maxRuns) return false;
    const info = (await store.listRuns(sessionId)).find((listed) => listed.runId === runId);
    // Otherwise it has ended, or waits for an answer.
    if (info?.state === "active") await takeOver(info, { isWakeup: true });
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
    outages.remove(runId); // a cancellation does not wait until the provider is back
    const orphan = (await store.listOrphans()).find((info) => info.runId === runId);
    if (orphan) await takeOver(orphan, { isCancelled: message.type === "cancel" });
  }

  const poll = () => {
    outages.wakeDueRuns(); // the machine may have slept
    recover().catch(() => undefined); // if the store cannot be read now, the next poll tries again
  };
  const stopPolling = repeatEvery(clock, shared.leaseMs / 2, poll);
  poll();

  async function close(): Promise<void> {
    stopPolling();
    outages.close();
    shutdown.abort();
    await Promise.allSettled(runs.list().map(async (handle) => handle));
    await runs.whenIdle();
  }
  return { runs, shared, send, recover, close };
}

function buildSharedOptions(
  options: LocalOptions,
  hooks: Pick<SharedStoreOptions, "shutdownSignal" | "onModelCall" | "onRunStart" | "onRunEnd">,
): SharedStoreOptions {
  const { leaseMs = defaultLeaseMs, owner = createId("local_") } = options;
  const clock = toClock(options.clock ?? backgroundClock);
  const { snapshotEvery } = options;
  const gate = createProcessGate(clock, leaseMs);
  return { owner, leaseMs, gate, clock, snapshotEvery, ...hooks };
}

type RunReader = Pick<LocalEngine, "getResult" | "getTurnRequest" | "checkMessage" | "listStuck">;

/** Reads runs from the store, whichever process executes them. */
function createRunReader(source: Omit<RunLocation, "runId">): RunReader {
  return {
    getResult: (runId) => loadResult({ ...source, runId }),
    getTurnRequest: (runId, turn, options = {}) => loadTurnRequest({ ...source, runId }, turn, options),
    checkMessage: (runId, message) => checkStoredMessage({ ...source, runId }, message),
    listStuck: (filter) =>
      listStuckRuns({ ...source, load: (runId) => loadRunState({ ...source, runId }) }, filter),
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
