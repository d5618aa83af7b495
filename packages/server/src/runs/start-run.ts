import { isDeepStrictEqual } from "node:util";
import {
  type Agent,
  AgentError,
  defaultPolicy,
  type Entry,
  type Policy,
  type PolicyOverrides,
  type RunOptions,
  type Store,
  type UserEntry,
} from "capstan";
import { clampPolicy, storeAgentVersion } from "capstan/agents";
import { findTaker, listQueuedRuns, loadRunStart } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import { readRequestSettings } from "../access/request-settings.ts";
import type { Deployment } from "../deployment.ts";
import { isAppAgent } from "../mcp-apps/app-agents.ts";
import { removeToolset } from "./agent-resolver.ts";
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
  /** Who wrote the message, if not the user. */
  readonly provenance?: "application" | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** Omit for a new session. */
  readonly sessionId?: string | undefined;
  readonly policy?: unknown;
  readonly settings?: unknown;
  /** The user's time zone. Falls back to the server's if omitted or unknown. */
  readonly timeZone?: string | undefined;
  /** Words by which the run can be found. */
  readonly tags?: readonly string[] | undefined;
  /** Summarizes the history of the session instead of answering. The input is an empty history. */
  readonly compact?: true;
  /** Whether any process may execute the run when it has capacity. */
  readonly canWait?: boolean;
};

export type StartedRun = {
  readonly runId: string;
  readonly sessionId: string;
  /** False if the same request started it before. */
  readonly isNew: boolean;
  /** `steered`: `runId` is the unfinished run that the message was sent to, and `after` its position by then. */
  readonly state: "started" | "queued" | "steered";
  readonly after?: number;
};

export type RunPlan = Omit<RunRequest, "agent"> & {
  readonly agent: Agent;
  readonly runId: string;
  readonly sessionId: string;
};

/**
 * Starts a stored run and resolves when its start is stored. While the session has an unfinished run, the policy `onBusy`
 * applies. With a key, the ids derive from it, so a repeated request finds the first run in any process and after a
 * restart. Rejects with `session_busy` or `queue_full`.
 */
export async function startRun(
  deployment: Deployment,
  caller: Caller,
  { key, ...request }: RunRequest & { readonly key?: string | undefined },
): Promise<StartedRun> {
  const agent = await deployment.resolveAgent(request.agent, request.model);
  // With a model or tools of its own, a request makes an agent that no page lists. So does the call of an app.
  const isOwn = request.model !== undefined || removeToolset(agent.name) !== agent.name;
  const isListed = !isOwn && !isAppAgent(agent.name);
  if (isListed) await storeAgentVersion(deployment.store, agent);
  const runId = `run_${key ?? crypto.randomUUID()}`;
  const sessionId = request.sessionId ?? createSessionId(caller.scope, key);
  const planned: RunPlan = { ...request, agent, runId, sessionId };
  if (key === undefined) {
    await assertAdmission(deployment, planned);
    return launchRun(deployment, caller, planned);
  }
  const { canWait: _, ...content } = request;
  const keyed: KeyedRequest = { sessionId, id: runId, request: { ...content, sessionId } };
  const { value } = await runOnce(deployment, {
    id: runId,
    async find() {
      const started = await findStartedRun(deployment, planned, keyed);
      // Another run of the session may take long: do not wait for it.
      if (!started) await assertAdmission(deployment, planned);
      return started;
    },
    async create() {
      const started = await launchRun(deployment, caller, planned);
      // Not awaited: the caller subscribes only after this returns and would miss deltas.
      storeRequest(deployment.store, keyed).catch(deployment.report);
      return started;
    },
  });
  // Nothing but the same request in another process makes a session busy whose id derives from its key.
  const isRepeated = request.sessionId === undefined && value.state === "queued";
  return isRepeated ? { ...value, isNew: false, state: "started" } : value;
}

/** Resolves when the start is stored. Rejects with `session_busy` if another process has just started the same run. */
export async function launchRun(
  deployment: Deployment,
  caller: Caller,
  planned: RunPlan,
): Promise<StartedRun> {
  const { agent, runId, sessionId, timeZone, tags = [], compact = false } = planned;
  const asked = planned.policy === undefined ? {} : clampPolicy(planned.policy, deployment.policyLimits);
  const hasOverrides = planned.settings !== undefined || planned.policy !== undefined;
  const settings = hasOverrides ? readRequestSettings(planned, caller, { agent, ...deployment }) : {};
  const place = timeZone !== undefined && isKnownTimeZone(timeZone) ? { timeZone } : {};
  const run = { runId, sessionId, policy: { ...deployment.policy, ...asked } };
  const admitted = await deployment.quotaAdmission.admit(caller, run);
  try {
    const options = await deployment.getRunOptions({ scope: caller.scope, sessionId });
    const { policy } = admitted;
    const runOptions = {
      ...options,
      session: sessionId,
      runId,
      policy,
      compact,
      tags,
      ...settings,
      ...place,
    };
    const started = await enqueueRun(deployment, { caller, planned, runOptions });
    if (started.state === "steered") admitted.release(); // the message starts no run
    return started;
  } catch (thrown) {
    admitted.release();
    throw thrown;
  }
}

type RunExecution = { readonly caller: Caller; readonly planned: RunPlan; readonly runOptions: RunOptions };

async function enqueueRun(
  deployment: Deployment,
  { caller, planned, runOptions }: RunExecution,
): Promise<StartedRun> {
  const { store, engine, activeRuns } = deployment;
  const { agent, runId, sessionId, canWait = false } = planned;
  const canSteer = findOnBusy(deployment, planned) === "steer";
  const { facts: after = 0 } = (canSteer && (await store.getSession(sessionId))) || {};
  // A message to a session that is busy here takes the place of the run before it.
  const needsPlace = !canWait && !activeRuns.has(sessionId);
  const reservation = needsPlace ? activeRuns.reserve(caller, sessionId) : undefined;
  try {
    const { state, ...started } = await engine.enqueue(agent, toEntries(planned), runOptions);
    if (state !== "started" || engine.isRemote) reservation?.release();
    if (state === "found") throw createBusyError(sessionId, runId);
    return { ...started, isNew: true, state, ...(state === "steered" && { after }) };
  } catch (thrown) {
    reservation?.release();
    throw thrown;
  }
}

/** A browser may know time zones that this process does not. */
function isKnownTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }) !== undefined;
  } catch {
    return false; // unknown zone
  }
}

function toEntries({ input, provenance }: Pick<RunRequest, "input" | "provenance">): readonly Entry[] {
  if (typeof input === "object" && "history" in input) return input.history;
  return [{ type: "user", content: input, ...(provenance && { provenance }) }];
}

/** Throws `session_busy` if the message may not wait for the unfinished run. */
async function assertAdmission(
  deployment: Deployment,
  { sessionId, runId, ...planned }: RunPlan,
): Promise<void> {
  if (findOnBusy(deployment, planned) !== "reject") return;
  const open = (await deployment.store.listRuns(sessionId, 1)).at(-1);
  if (open && open.state !== "ended" && open.runId !== runId) throw createBusyError(sessionId, open.runId);
}

function findOnBusy(
  { policy }: Deployment,
  { agent, policy: asked }: Pick<RunPlan, "agent" | "policy">,
): Policy["onBusy"] {
  const { onBusy } = (asked ?? {}) as PolicyOverrides;
  return onBusy ?? policy?.onBusy ?? agent.policy?.onBusy ?? defaultPolicy.onBusy;
}

function createBusyError(sessionId: string, runId: string): AgentError {
  const message = `Session "${sessionId}" has an unfinished run, "${runId}". Answer it, wait for it, or cancel it.`;
  return new AgentError("session_busy", message);
}

/** Returns the run that the same request started or queued; throws if a different one did. */
async function findStartedRun(
  { store }: Deployment,
  planned: RunPlan,
  keyed: KeyedRequest,
): Promise<StartedRun | undefined> {
  const { runId, agent } = planned;
  const sessionId = await store.findSession(runId);
  if (sessionId === undefined) return findQueued(store, planned, keyed);
  const started = { runId, sessionId, isNew: false, state: "started" } as const;
  if (sessionId === planned.sessionId && (await matchesStoredRequest(store, keyed))) return started;
  const start = await loadRunStart(store, runId);
  const isSame =
    start !== undefined &&
    sessionId === planned.sessionId &&
    start.agent === agent.name &&
    isDeepStrictEqual(start.input, toEntries(planned)) &&
    includesFields(start.policy, withoutBudget(planned.policy)) &&
    includesFields(start.settings ?? {}, planned.settings ?? {});
  if (!isSame) throw createKeyConflictError();
  return started;
}

/** Finds a request that waits for its turn, or that was sent to an unfinished run. */
async function findQueued(
  store: Store,
  { runId, sessionId }: RunPlan,
  keyed: KeyedRequest,
): Promise<StartedRun | undefined> {
  if (!(await matchesStoredRequest(store, keyed))) return undefined;
  const queued = (await listQueuedRuns(store, sessionId)).find((one) => one.runId === runId);
  const taker = queued?.steers ?? (await findTaker(store, { sessionId, runId }));
  if (taker !== undefined) return { runId: taker, sessionId, isNew: false, state: "steered" };
  return queued && { runId, sessionId, isNew: false, state: "queued" };
}

/** The stored budget may have been lowered to a share of the user's quotas. */
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
