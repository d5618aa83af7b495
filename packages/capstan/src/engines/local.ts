import { type Agent, indexAgents } from "../agent.ts";
import { backgroundClock, type Clock, repeatEvery } from "../clock.ts";
import { AgentError, describeThrown } from "../errors.ts";
import { createId } from "../ids.ts";
import type { TurnRequest } from "../perform/turn-request.ts";
import type { RunInput } from "../run/input.ts";
import type { ResumeOptions, Shared } from "../run/open-run.ts";
import type { Result } from "../run/result.ts";
import { type RunOptions, resume, run } from "../run/run.ts";
import type { Run } from "../run/run-handle.ts";
import { type Rerun, type RerunOptions, rerun } from "../sessions/rerun.ts";
import type { RunInfo, RunMessage, Store } from "../store.ts";
import { checkTold, storedResult, storedRun, storedTurn } from "./stored-run.ts";

export type { TurnRequest };

/** Gives the agent of a name, with those it hands off to; undefined when there is none. */
export type FindAgent = (name: string) => Agent | undefined | Promise<Agent | undefined>;

export type LocalOptions = {
  readonly store: Store;
  /** Every agent that a stored run may need, or who finds one by its name, where agents come and go. */
  readonly agents: Agent | readonly Agent[] | FindAgent;
  /** Who is at work, in facts and leases; a name of this process when left out. */
  readonly owner?: string;
  /** After so long without a sign of life another process may go on with a run. */
  readonly leaseMs?: number;
  /** For leases and for looking after lost runs; by default the machine's. */
  readonly clock?: Clock;
  /** While it works on so many runs it takes over no more; 500 when left out. What it is told, it always hears. */
  readonly maxRuns?: number;
  /** What runs need that were begun elsewhere: their `context`, hooks and secrets are not stored. */
  readonly getResumeOptions?: (run: RunInfo) => ResumeOptions | Promise<ResumeOptions>;
};

/** Runs on a store that outlives the process. Any number of processes may share the store. */
export interface LocalEngine {
  /** Starts a run of one of the agents. */
  run(agent: Agent, input: RunInput, options?: Omit<RunOptions, "store">): Run;
  /** A run in the store, whoever is at work on it: await or iterate it, approve, steer, cancel. */
  open(runId: string): Run;
  /** What has come of a run so far, without waiting for it: `waiting` is also one that is at work. */
  getResult(runId: string): Promise<Result>;
  /** What the model was sent in a turn of a run, made again from the facts. Asks no model. Rejects with `not_found`. */
  getTurnRequest(
    runId: string,
    getTurnRequest: number,
    given?: Pick<ResumeOptions, "context" | "secrets">,
  ): Promise<TurnRequest>;
  /** Runs again in a fork, as a run that is looked after like any other. */
  rerun(options: RerunOptions): Promise<Rerun>;
  /**
   * Rejects when the run, as it stands, would not heed the message: with `unknown_call`, `approval_conflict`, `run_ended`,
   * or `invalid_input` for an answer that the schema of its question does not allow.
   */
  checkMessage(runId: string, message: RunMessage): Promise<void>;
  /** Tells a run something, and takes it up when nobody is at work on it. Resolves when it is stored. */
  send(runId: string, message: RunMessage): Promise<void>;
  /** Takes over runs whose process is gone, and gives their ids. Also called by itself, at the start and then often. */
  recover(): Promise<readonly string[]>;
  /** Puts down what it works on, after the step that is under way, and gives it to whoever comes. */
  close(): Promise<void>;
}

const defaultLeaseMs = 15_000;
const defaultMaxRuns = 500;

export function local(options: LocalOptions): LocalEngine {
  const { store, leaseMs = defaultLeaseMs, owner = createId("local_"), clock = backgroundClock } = options;
  const { known, teamOf } = roster(options.agents);
  const leaving = new AbortController();
  const active = new Map<string, Run>();
  /** Runs that failed here because of their store, not because a process was gone. */
  const dropped = new Set<string>();
  const shared: Shared = { owner, leaseMs, clock, leaving: leaving.signal };

  /** Runs that wait for a time, as far as this process knows. */
  const sleeping = new Map<string, number>();

  function track(handle: Run): Run {
    active.set(handle.id, handle);
    const forget = () => {
      if (active.get(handle.id) === handle) active.delete(handle.id);
    };
    const rest = ({ until }: Result) => {
      forget();
      if (until === undefined) return;
      sleeping.set(handle.id, until);
      clock.after(Math.max(0, until - clock.now()), look);
    };
    handle.then(rest, (thrown) => {
      if (describeThrown(thrown, "store_failed").code.startsWith("store_")) dropped.add(handle.id);
      forget();
    });
    return handle;
  }

  /** Goes on with a run, unless somebody else is faster. */
  async function take(info: RunInfo): Promise<boolean> {
    if (leaving.signal.aborted || active.has(info.runId)) return false;
    if ((sleeping.get(info.runId) ?? 0) > clock.now()) return false;
    sleeping.delete(info.runId);
    const agents = await teamOf(info.agent);
    if (!agents) return false;
    const given = (await options.getResumeOptions?.(info)) ?? {};
    if (leaving.signal.aborted || active.has(info.runId)) return false;
    const isRecovery = info.state === "active" && !dropped.delete(info.runId);
    const from = { store, runId: info.runId };
    const handle = track(resume(agents, from, { ...given, shared: { ...shared, isRecovery } }));
    handle.then(undefined, () => undefined);
    return true;
  }

  async function recover(): Promise<readonly string[]> {
    const taken: string[] = [];
    for (const info of await store.listOrphans()) {
      if (active.size >= (options.maxRuns ?? defaultMaxRuns)) break;
      // One that cannot be taken over now must not keep the others waiting.
      if (await take(info).catch(() => false)) taken.push(info.runId);
    }
    return taken;
  }

  async function tell(runId: string, message: RunMessage): Promise<void> {
    await store.sendMessage(runId, message);
    const orphan = (await store.listOrphans()).find((info) => info.runId === runId);
    if (orphan) await take(orphan);
  }

  function usable(agent: Agent): Agent {
    assertOpen(leaving.signal);
    return known(agent);
  }

  // A store that cannot be read now is asked again a moment later.
  const look = () => void recover().catch(() => undefined);
  const stopLooking = repeatEvery(clock, leaseMs / 2, look);
  look();

  return {
    run: (agent, input, given = {}) => track(run(usable(agent), input, { ...given, store, shared })),
    open: (runId) => storedRun({ store, teamOf, runId, tell: (message) => tell(runId, message) }),
    ...looking(store, teamOf),
    rerun: async (given) => rerun(store, { ...given, agent: usable(given.agent), shared, begun: track }),
    send: tell,
    recover,
    async close() {
      stopLooking();
      leaving.abort();
      await Promise.allSettled([...active.values()].map(async (handle) => handle));
    },
  };
}

/** What can be seen of runs, whoever is at work on them. */
function looking(
  store: Store,
  teamOf: Roster["teamOf"],
): Pick<LocalEngine, "getResult" | "getTurnRequest" | "checkMessage"> {
  return {
    getResult: (runId) => storedResult({ store, teamOf, runId }),
    getTurnRequest: (runId, turn, given = {}) => storedTurn({ store, teamOf, runId }, turn, given),
    checkMessage: (runId, message) => checkTold({ store, teamOf, runId }, message),
  };
}

function assertOpen(leaving: AbortSignal): void {
  if (leaving.aborted) throw new AgentError("aborted", "The engine has been closed: make a new one.");
}

type Roster = {
  /** All that a run of this agent may need; undefined when there is no such agent. */
  teamOf(name: string): Promise<readonly Agent[] | undefined>;
  /** The agent itself, when others can find it too. */
  known(agent: Agent): Agent;
};

function roster(agents: LocalOptions["agents"]): Roster {
  if (typeof agents === "function") {
    const teamOf = async (name: string) => {
      const agent = await agents(name);
      return agent && [agent];
    };
    return { teamOf, known: (agent) => agent };
  }
  const byName = indexAgents(agents);
  return {
    teamOf: async (name) => (byName.has(name) ? [...byName.values()] : undefined),
    known(agent) {
      if (byName.get(agent.name) === agent) return agent;
      const message = `The agent "${agent.name}" was not given to the engine, so no other process could go on with its runs: add it to \`agents\`.`;
      throw new AgentError("unknown_agent", message);
    },
  };
}
