import {
  type Agent,
  type Entry,
  type Event,
  type PolicyOverrides,
  type Result,
  type Run,
  run,
} from "capstan";
import { memory } from "capstan/stores/memory";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { newSessionId } from "./start-run.ts";

/** What a run is asked for whose history the client keeps. */
export type PassingRequest = {
  readonly agent: Agent;
  readonly entries: readonly Entry[];
  readonly policy?: PolicyOverrides;
  /** The tools that the client runs. */
  readonly declared?: ReadonlySet<string>;
};

/** A run at work: from its start, or from results that it was given, to its end or to the next wait. */
export type PassingLeg = {
  readonly runId: string;
  /** The tools that the client runs. */
  readonly declared: ReadonlySet<string>;
  readonly events: AsyncIterableIterator<Event>;
  readonly result: Promise<Result>;
  /** The client has gone: ends the run with its model call and its tools, unless it is at rest already. */
  abandon(): void;
};

/**
 * Runs whose history the client keeps. Each has a store of its own, in memory, that is gone with it: when it ends, or
 * when its client has gone. One that waits for results of the client stays for an hour, and of one user only so many. Nobody can
 * approve anything in them, so what needs it is denied; what they use counts like in runs that are kept.
 */
export interface Passing {
  start(caller: Caller, request: PassingRequest): Promise<PassingLeg>;
  /** Gives results to a run of the caller that waits for them; undefined when there is none that does. */
  answer(caller: Caller, given: PassingResults): PassingLeg | undefined;
  /** Lets those at work come to their end until `patience` is over. */
  close(patience: Promise<unknown>): Promise<void>;
}

export type PassingResults = { readonly runId: string; readonly results: ReadonlyMap<string, string> };

export type PassingOptions = Pick<Deployment, "policy" | "spending" | "allowance" | "optionsFor"> & {
  readonly waiting?: WaitingLimits;
};

type Going = Pick<WaitingRun, "handle" | "scope" | "declared"> & { release(): void };

/** Keeps what waits in this process. */
export function passing({ policy, spending, allowance, optionsFor, ...options }: PassingOptions): Passing {
  const atWork = new Set<Run>();
  const waiting = waitingRuns(options.waiting ?? {});

  /** Until it ends, waits or fails; what waits is kept. */
  async function rest({ release, ...going }: Going): Promise<Result> {
    const { handle } = going;
    atWork.add(handle);
    try {
      const result = await handle;
      if (result.status === "waiting")
        waiting.keep({ ...going, callIds: result.pending.map(({ callId }) => callId) });
      return result;
    } finally {
      atWork.delete(handle);
      release();
    }
  }

  function follow(going: Going): PassingLeg {
    const { handle, declared } = going;
    const events = handle[Symbol.asyncIterator]() as AsyncIterableIterator<Event>;
    let isAtRest = false;
    const result = rest(going).finally(() => {
      isAtRest = true;
    });
    result.catch(() => undefined); // told to whoever reads the events or awaits the result
    return {
      runId: handle.id,
      declared,
      events,
      result,
      abandon() {
        if (!isAtRest) handle.cancel("The client has gone.");
        void events.return?.();
      },
    };
  }

  return {
    async start(caller, { agent, entries, policy: asked, declared = new Set() }) {
      const { scope } = caller;
      const session = newSessionId(scope);
      const within = await spending.within(caller, { ...policy, ...asked, approvals: "deny" });
      const given = await optionsFor({ scope, sessionId: session });
      const release = allowance.take(caller, "runs");
      const runId = `run_${crypto.randomUUID()}`;
      const handle = run(agent, entries, { ...given, store: memory(), session, runId, policy: within });
      return follow({ handle, scope, declared, release });
    },
    answer(caller, { runId, results }) {
      const { scope } = caller;
      const release = allowance.take(caller, "runs");
      const found = waiting.take({ runId, scope, callIds: [...results.keys()] });
      if (!found) {
        release();
        return undefined;
      }
      for (const [callId, text] of results) found.handle.answer(callId, text);
      return follow({ ...found, release });
    },
    async close(patience) {
      const ending = [...waiting.clear(), ...atWork].map(async (handle) => handle);
      await Promise.race([Promise.allSettled(ending), patience]);
      for (const handle of atWork) handle.cancel("The server is about to leave.");
    },
  };
}

/** A run that waits for results of its client. */
export type WaitingRun = {
  readonly handle: Run;
  readonly scope: string;
  /** The tools that the client runs. */
  readonly declared: ReadonlySet<string>;
  readonly callIds: readonly string[];
};

export type WaitingLimits = {
  /** By default an hour. */
  readonly patienceMs?: number | undefined;
  /** Of one user; 100 by default. */
  readonly most?: number | undefined;
};

/** Runs that wait for their clients: for a while, and only so many of each user. The oldest one makes room. */
export interface WaitingRuns {
  keep(run: WaitingRun): void;
  /** The run of this scope that waits for all of these calls: it waits no more. */
  take(wanted: Omit<WaitingRun, "handle" | "declared"> & { readonly runId: string }): WaitingRun | undefined;
  /** Gives up all of them; they come to their ends. */
  clear(): readonly Run[];
}

/** In the memory of this process. */
export function waitingRuns({ patienceMs = 3_600_000, most = 100 }: WaitingLimits): WaitingRuns {
  const waiting = new Map<string, WaitingRun & { readonly timer: NodeJS.Timeout }>();

  function remove(runId: string): WaitingRun | undefined {
    const found = waiting.get(runId);
    clearTimeout(found?.timer);
    waiting.delete(runId);
    return found;
  }
  /** It comes to its end, so that what it has used is counted. */
  function giveUp(runId: string): readonly Run[] {
    const handle = remove(runId)?.handle;
    return handle ? [handle.cancel("Nobody came back with the results that it waited for.")] : [];
  }

  return {
    keep(run) {
      const { id } = run.handle;
      const own = [...waiting].filter(([, { scope }]) => scope === run.scope);
      const [oldest] = own;
      if (oldest && own.length >= most) giveUp(oldest[0]);
      waiting.set(id, { ...run, timer: setTimeout(() => giveUp(id), patienceMs).unref() });
    },
    take({ runId, scope, callIds }) {
      const found = waiting.get(runId);
      if (!found || found.scope !== scope || callIds.length === 0) return undefined;
      return callIds.every((callId) => found.callIds.includes(callId)) ? remove(runId) : undefined;
    },
    clear: () => [...waiting.keys()].flatMap(giveUp),
  };
}
