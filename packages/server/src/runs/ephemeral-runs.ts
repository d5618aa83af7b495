import { createHash } from "node:crypto";
import {
  type Agent,
  type Entry,
  type Event,
  type Fact,
  getText,
  type Json,
  type ModelSettings,
  type PendingCall,
  type PolicyOverrides,
  type Result,
  type Run,
  run,
} from "capstan";
import { memory } from "capstan/stores/memory";
import type { Caller } from "../access/caller.ts";
import type { Quota } from "../access/quota.ts";
import type { Deployment } from "../deployment.ts";
import { createSessionId } from "./start-run.ts";

export type EphemeralRunRequest = {
  readonly agent: Agent;
  readonly entries: readonly Entry[];
  readonly policy?: PolicyOverrides;
  readonly settings?: ModelSettings;
  /** Tools that the client runs. */
  readonly declared?: ReadonlySet<string>;
  /** The client can ask its user. Without it, calls that need approval are denied. */
  readonly canApprove?: boolean;
};

/** Part of a run: from its start, or from client results, to its end or its next suspension. */
export type EphemeralSegment = {
  readonly runId: string;
  /** Tools that the client runs. */
  readonly declared: ReadonlySet<string>;
  readonly events: AsyncIterableIterator<Event>;
  /** The facts of the run before this segment. */
  readonly earlier: readonly Fact[];
  readonly result: Promise<Result>;
  /** Cancels the run when the client disconnects, unless it is suspended or has ended. */
  cancel(): void;
};

/**
 * Runs whose history the client keeps. Each has its own memory store, dropped when the run ends or its client
 * disconnects. A run that waits for results of the client or for decisions of its user is kept for an hour, up to a limit
 * per user. Their usage counts like that of stored runs.
 */
export interface EphemeralRuns {
  start(caller: Caller, request: EphemeralRunRequest): Promise<EphemeralSegment>;
  /** Passes results or decisions to the caller's run that waits for all of them; undefined if not found. */
  resume(caller: Caller, given: ClientResults | ClientDecisions): Promise<EphemeralSegment | undefined>;
  /**
   * Whether a run of this caller gave exactly this answer, and had read nothing but words of the user and the operator.
   * False for answers of other processes, and for all but the latest ones.
   */
  hasAnswered(caller: Caller, text: string): boolean;
  /** Waits for active runs until `timeout` resolves, then cancels them. */
  close(patience: Promise<unknown>): Promise<void>;
}

export type ClientResults = {
  readonly runId: string;
  /** By call id; values as `Run.answer` takes them. */
  readonly results: ReadonlyMap<string, unknown>;
  /** The user's message that came with the results. */
  readonly text?: string;
};

/** A user's decision about a call; `value` answers a tool's question. */
export type ClientDecision = {
  readonly approved: boolean;
  readonly reason?: string | undefined;
  readonly value?: Json | undefined;
};

export type ClientDecisions = {
  readonly runId: string;
  /** By call id. */
  readonly decisions: ReadonlyMap<string, ClientDecision>;
};

export type EphemeralRunsOptions = Pick<
  Deployment,
  "policy" | "quotaAdmission" | "quota" | "getRunOptions"
> & {
  readonly limits?: SuspendedRunLimits;
};

type ActiveSegment = Omit<SuspendedRun, "pending"> & { release(): void };

/** Keeps suspended runs in this process. */
export function createEphemeralRuns({
  policy,
  quotaAdmission,
  quota,
  getRunOptions,
  limits = {},
}: EphemeralRunsOptions): EphemeralRuns {
  const activeRuns = new Set<Run>();
  const suspendedRuns = createSuspendedRuns(limits);
  const answers = createAnswerLog();

  /** Resolves when the run ends or suspends; a suspended run is kept. */
  async function waitUntilSuspended({ release, ...going }: ActiveSegment): Promise<Result> {
    const { handle } = going;
    activeRuns.add(handle);
    try {
      const result = await handle;
      if (result.status === "waiting") suspendedRuns.add({ ...going, pending: result.pending });
      if (result.status === "waiting") quotaAdmission.recordWait(going.scope, result);
      const answer = findVouchedAnswer(result);
      if (answer !== undefined) answers.add(going.scope, answer);
      return result;
    } finally {
      activeRuns.delete(handle);
      release();
    }
  }

  function followSegment(going: ActiveSegment): EphemeralSegment {
    const { handle, declared } = going;
    const events = handle[Symbol.asyncIterator]() as AsyncIterableIterator<Event>;
    let isAtRest = false;
    const result = waitUntilSuspended(going).finally(() => {
      isAtRest = true;
    });
    result.catch(() => undefined); // reported to the reader of the events or of the result
    return {
      runId: handle.id,
      declared,
      events,
      earlier: [],
      result,
      cancel() {
        if (!isAtRest) handle.cancel("The client disconnected.");
        void events.return?.();
      },
    };
  }

  return {
    async start(caller, { agent, entries, policy: asked, settings, declared = new Set(), canApprove }) {
      const { scope } = caller;
      const session = createSessionId(scope);
      const runId = `run_${crypto.randomUUID()}`;
      const store = memory();
      const given = await getRunOptions({ scope, sessionId: session, isStored: false });
      const requested = { ...policy, ...asked, ...(!canApprove && { approvals: "deny" as const }) };
      const admit = () => quotaAdmission.admit(caller, { runId, policy: requested, isEphemeral: true });
      const { admitted, release } = await acquireRun(quota, caller, admit);
      const options = { ...given, store, session, runId, policy: admitted.policy };
      const handle = run(agent, entries, settings ? { ...options, settings } : options);
      return followSegment({ handle, scope, declared, release, loadFacts: () => store.read(session) });
    },
    async resume(caller, given) {
      const { runId } = given;
      const found = suspendedRuns.take({ runId, scope: caller.scope, ...getWanted(given) });
      if (!found) return undefined;
      const admit = () => quotaAdmission.admitResume(caller, { runId, isEphemeral: true });
      const { release } = await acquireRun(quota, caller, admit).catch((thrown) => {
        suspendedRuns.add(found);
        throw thrown;
      });
      const earlier = await found.loadFacts();
      sendGiven(found.handle, given);
      return { ...followSegment({ ...found, release }), earlier };
    },
    hasAnswered: ({ scope }, text) => answers.has(scope, text),
    async close(patience) {
      const ending = [...suspendedRuns.clear(), ...activeRuns].map(async (handle) => handle);
      await Promise.race([Promise.allSettled(ending), patience]);
      for (const handle of activeRuns) handle.cancel("The server is shutting down.");
    },
  };
}

/** Returns the calls that the client has something for, and what they must wait for. */
function getWanted(given: ClientResults | ClientDecisions): Pick<WantedRun, "callIds" | "needs"> {
  return "results" in given
    ? { callIds: [...given.results.keys()], needs: "answer" }
    : { callIds: [...given.decisions.keys()], needs: "approval" };
}

function sendGiven(handle: Run, given: ClientResults | ClientDecisions): void {
  if ("results" in given) {
    for (const [callId, value] of given.results) handle.answer(callId, value);
    if (given.text) handle.steer(given.text);
    return;
  }
  for (const [callId, { approved, reason, value }] of given.decisions)
    if (approved) handle.approve(callId, value);
    else handle.deny(callId, reason);
}

/** Acquires a place in this process, and releases it if the run is not admitted. */
async function acquireRun<Admitted>(
  quota: Quota,
  caller: Caller,
  admit: () => Promise<Admitted>,
): Promise<{ readonly admitted: Admitted; readonly release: () => void }> {
  const release = quota.acquire(caller, "runs");
  try {
    return { admitted: await admit(), release };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

function findVouchedAnswer({ status, history }: Result): string | undefined {
  const answer = history.at(-1);
  if (status !== "done" || answer?.type !== "assistant" || !history.every(isVouchedFor)) return undefined;
  return getText(answer);
}

/** Whether the user or the operator wrote an entry, or a model that had read nothing else. */
function isVouchedFor(entry: Entry): boolean {
  if (entry.type !== "user" && entry.type !== "assistant") return false;
  return entry.provenance !== "application" && entry.provenance !== "external";
}

const maxAnswers = 10_000;

/** Remembers the digests of the latest answers. */
function createAnswerLog() {
  const digests = new Set<string>();
  const computeDigest = (scope: string, text: string) =>
    createHash("sha256")
      .update(JSON.stringify([scope, text.trim()]))
      .digest("base64url");
  return {
    add(scope: string, text: string): void {
      digests.add(computeDigest(scope, text));
      const [oldest] = digests;
      if (oldest !== undefined && digests.size > maxAnswers) digests.delete(oldest);
    },
    has: (scope: string, text: string): boolean => digests.has(computeDigest(scope, text)),
  };
}

/** A run that waits for its client. */
export type SuspendedRun = {
  readonly handle: Run;
  readonly scope: string;
  /** Tools that the client runs. */
  readonly declared: ReadonlySet<string>;
  readonly pending: readonly Pick<PendingCall, "callId" | "needs">[];
  loadFacts(): Promise<readonly Fact[]>;
};

/** The run of a scope that waits for these calls. */
type WantedRun = {
  readonly runId: string;
  readonly scope: string;
  readonly callIds: readonly string[];
  readonly needs: PendingCall["needs"];
};

export type SuspendedRunLimits = {
  /** One hour by default. */
  readonly timeoutMs?: number | undefined;
  /** 100 by default. */
  readonly maxPerUser?: number | undefined;
};

/** Suspended runs, limited in time and per user. Adding one beyond the limit expires the oldest. */
export interface SuspendedRuns {
  add(run: SuspendedRun): void;
  /** Removes and returns the run of this scope that waits for all of these calls, and needs that of them. */
  take(wanted: WantedRun): SuspendedRun | undefined;
  /** Cancels all runs and returns them. */
  clear(): readonly Run[];
}

export function createSuspendedRuns({
  timeoutMs: patienceMs = 3_600_000,
  maxPerUser: most = 100,
}: SuspendedRunLimits): SuspendedRuns {
  const runs = new Map<string, SuspendedRun & { readonly timer: NodeJS.Timeout }>();

  function remove(runId: string): SuspendedRun | undefined {
    const found = runs.get(runId);
    clearTimeout(found?.timer);
    runs.delete(runId);
    return found;
  }
  /** Cancels the run, so that its usage is counted. */
  function expire(runId: string): readonly Run[] {
    const handle = remove(runId)?.handle;
    return handle ? [handle.cancel("The client did not return the results in time.")] : [];
  }

  return {
    add(run) {
      const { id } = run.handle;
      const own = [...runs].filter(([, { scope }]) => scope === run.scope);
      const [oldest] = own;
      if (oldest && own.length >= most) expire(oldest[0]);
      runs.set(id, { ...run, timer: setTimeout(() => expire(id), patienceMs).unref() });
    },
    take({ runId, scope, callIds, needs }) {
      const found = runs.get(runId);
      if (!found || found.scope !== scope || callIds.length === 0) return undefined;
      const isPending = (id: string) =>
        found.pending.some((call) => call.callId === id && call.needs === needs);
      return callIds.every(isPending) ? remove(runId) : undefined;
    },
    clear: () => [...runs.keys()].flatMap(expire),
  };
}
