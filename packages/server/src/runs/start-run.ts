import { isDeepStrictEqual } from "node:util";
import { type Agent, AgentError, type Entry, type Run, type RunOptions, type UserEntry } from "capstan";
import { clampPolicy } from "capstan/agents";
import { loadRunStart } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import { readRequestSettings } from "../access/request-settings.ts";
import type { Deployment } from "../deployment.ts";
import {
  createKeyConflictError,
  type KeyedRequest,
  matchesStoredRequest,
  runOnce,
  storeRequest,
} from "./idempotency.ts";

export type RunRequest = {
  /** The user's message, or a history kept by the client, which is not trusted. */
  readonly input: UserEntry["content"] | { readonly history: readonly Entry[] };
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** Omit for a new session. */
  readonly sessionId?: string | undefined;
  readonly policy?: unknown;
  readonly settings?: unknown;
  /** The user's time zone. Falls back to the server's if omitted or unknown. */
  readonly timeZone?: string | undefined;
  /** Summarizes the history of the session instead of answering. The input is an empty history. */
  readonly compact?: true;
};

export type StartedRun = {
  readonly runId: string;
  readonly sessionId: string;
  /** False if the same request started it before. */
  readonly isNew: boolean;
};

type RunPlan = Omit<RunRequest, "agent"> & {
  readonly agent: Agent;
  readonly runId: string;
  readonly sessionId: string;
};

/**
 * Starts a stored run and resolves when its start is stored. With a key, the ids derive from it, so a repeated
 * request finds the first run in any process and after a restart. Rejects with `session_busy` while the session has
 * an unfinished run.
 */
export async function startRun(
  deployment: Deployment,
  caller: Caller,
  { key, ...request }: RunRequest & { readonly key?: string | undefined },
): Promise<StartedRun> {
  const agent = await deployment.resolveAgent(request.agent, request.model);
  const runId = `run_${key ?? crypto.randomUUID()}`;
  const sessionId = request.sessionId ?? createSessionId(caller.scope, key);
  const planned: RunPlan = { ...request, agent, runId, sessionId };
  const keyed: KeyedRequest = { sessionId, id: runId, request: { ...request, sessionId } };
  if (key === undefined) {
    await assertSessionIdle(deployment, planned);
    await launchRun(deployment, caller, planned);
    return { runId, sessionId, isNew: true };
  }
  const { isNew } = await runOnce(deployment, {
    id: runId,
    async find() {
      const isStarted = await findStartedRun(deployment, planned, keyed);
      // Another run of the session may take long: do not wait for it.
      if (!isStarted) await assertSessionIdle(deployment, planned);
      return isStarted;
    },
    async create() {
      // Another process has just started the same run: find it instead.
      if (!(await launchRun(deployment, caller, planned))) throw createBusyError(sessionId, runId);
      // Not awaited: the caller subscribes only after this returns and would miss deltas.
      storeRequest(deployment.store, keyed).catch(deployment.report);
      return true;
    },
  });
  return { runId, sessionId, isNew };
}

/** Resolves when the start is stored. False if another process has started the run. */
async function launchRun(deployment: Deployment, caller: Caller, planned: RunPlan): Promise<boolean> {
  const { agent, input, runId, sessionId, timeZone, compact = false } = planned;
  const asked = planned.policy === undefined ? {} : clampPolicy(planned.policy, deployment.policyLimits);
  const policy = await deployment.dailyBudget.clampPolicy(caller, { ...deployment.policy, ...asked });
  const hasOverrides = planned.settings !== undefined || planned.policy !== undefined;
  const settings = hasOverrides ? readRequestSettings(planned, caller, { agent, ...deployment }) : {};
  const options = await deployment.getRunOptions({ scope: caller.scope, sessionId });
  const { release } = deployment.activeRuns.reserve(caller, sessionId);
  const place = timeZone !== undefined && isKnownTimeZone(timeZone) ? { timeZone } : {};
  const runOptions = { ...options, session: sessionId, runId, policy, compact, ...settings, ...place };
  const isStartedHere = await waitUntilStored(runOptions, (given) => {
    try {
      const handle = deployment.engine.run(agent, toEntries(input), given);
      handle.then(release, release);
      return handle;
    } catch (thrown) {
      release();
      throw thrown;
    }
  });
  if (!isStartedHere) release();
  return isStartedHere;
}

/** A browser may know time zones that this process does not. */
function isKnownTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }) !== undefined;
  } catch {
    return false; // unknown zone
  }
}

function toEntries(input: RunRequest["input"]): readonly Entry[] {
  if (typeof input === "object" && "history" in input) return input.history;
  return [{ type: "user", content: input }];
}

/** Resolves at the first event, which is emitted after it is stored. True if this process executes the run. */
function waitUntilStored(options: RunOptions, start: (options: RunOptions) => Run): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const { hooks } = options;
    const onEvent: NonNullable<typeof hooks>["onEvent"] = (event) => {
      resolve(true); // in the same tick, so that the caller misses no delta
      hooks?.onEvent?.(event);
    };
    readFirstEvent(start({ ...options, hooks: { ...hooks, onEvent } })).then(() => resolve(false), reject);
  });
}

/** The hook is not called for a run that another process executes. */
async function readFirstEvent(handle: Run): Promise<void> {
  for await (const _ of handle) return;
}

async function assertSessionIdle({ store }: Deployment, { sessionId, runId }: RunPlan): Promise<void> {
  const [open] = await store.listRuns(sessionId, 1);
  if (open && open.state !== "ended" && open.runId !== runId) throw createBusyError(sessionId, open.runId);
}

function createBusyError(sessionId: string, runId: string): AgentError {
  const message = `Session "${sessionId}" has an unfinished run, "${runId}". Answer it, wait for it, or cancel it.`;
  return new AgentError("session_busy", message);
}

/** Returns true if the same request started the run; throws if a different one did. */
async function findStartedRun(
  { store }: Deployment,
  planned: RunPlan,
  keyed: KeyedRequest,
): Promise<true | undefined> {
  const { runId, agent, input } = planned;
  const sessionId = await store.findSession(runId);
  if (sessionId === undefined) return undefined;
  if (sessionId === planned.sessionId && (await matchesStoredRequest(store, keyed))) return true;
  const start = await loadRunStart(store, runId);
  const isSame =
    start !== undefined &&
    sessionId === planned.sessionId &&
    start.agent === agent.name &&
    isDeepStrictEqual(start.input, toEntries(input)) &&
    includesFields(start.policy, withoutBudget(planned.policy)) &&
    includesFields(start.settings ?? {}, planned.settings ?? {});
  if (!isSame) throw createKeyConflictError();
  return true;
}

/** The stored budget may have been lowered to the remaining daily budget. */
function withoutBudget(policy: unknown): unknown {
  const { budget: _, ...rest } = (policy ?? {}) as Record<string, unknown>;
  return rest;
}

/** Whether a value contains all requested fields. A stored policy also contains defaults. */
export function includesFields(value: unknown, asked: unknown): boolean {
  if (typeof asked !== "object" || asked === null || Array.isArray(asked))
    return isDeepStrictEqual(value, asked);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(asked).every(([field, one]) => includesFields(Reflect.get(value, field), one));
}

/** Creates a session id in the user's scope (see `getScope`), deterministic for a seed. */
export function createSessionId(scope: string, seed: string = crypto.randomUUID()): string {
  return scope ? `${scope}~ses_${seed}` : `ses_${seed}`;
}
