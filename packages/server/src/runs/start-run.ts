import { isDeepStrictEqual } from "node:util";
import {
  type Agent,
  AgentError,
  type Entry,
  type Fact,
  type Run,
  type RunOptions,
  type UserEntry,
} from "capstan";
import { clampPolicy } from "capstan/agents";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { type Keyed, once, otherRequest, rememberAsked, wasAsked } from "./idempotency.ts";

/** What somebody asks a run for. */
export type RunRequest = {
  /** What a person says; or a history that the client has kept, as its word. */
  readonly input: UserEntry["content"] | { readonly history: readonly Entry[] };
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** The conversation it belongs to; a new one when left out. */
  readonly sessionId?: string | undefined;
  readonly policy?: unknown;
  /** Of the person who asks; the server's own when left out or not known. */
  readonly timeZone?: string | undefined;
};

export type Started = {
  readonly runId: string;
  readonly sessionId: string;
  /** False when the same request has started it before. */
  readonly isNew: boolean;
};

type Planned = Omit<RunRequest, "agent"> & {
  readonly agent: Agent;
  readonly runId: string;
  readonly sessionId: string;
};

/**
 * Starts a run that is kept, and resolves when its beginning is stored. With a key, the ids are made from it: so the same
 * request, sent twice, finds the run of the first, on every process and after every restart. Rejects with `session_busy` while the session has a run that is not over.
 */
export async function startRun(
  deployment: Deployment,
  caller: Caller,
  { key, ...request }: RunRequest & { readonly key?: string | undefined },
): Promise<Started> {
  const agent = await deployment.agent(request.agent, request.model);
  const runId = `run_${key ?? crypto.randomUUID()}`;
  const sessionId = request.sessionId ?? newSessionId(caller.scope, key);
  const planned: Planned = { ...request, agent, runId, sessionId };
  const keyed: Keyed = { sessionId, id: runId, request: { ...request, sessionId } };
  if (key === undefined) {
    await assertFree(deployment, planned);
    await begin(deployment, caller, planned);
    return { runId, sessionId, isNew: true };
  }
  const { isNew } = await once(deployment, {
    id: runId,
    find: () => alreadyStarted(deployment, planned, keyed),
    async make() {
      await assertFree(deployment, planned);
      await begin(deployment, caller, planned);
      // Not waited for: what the model says meanwhile is heard by nobody yet.
      rememberAsked(deployment.store, keyed).catch(deployment.report);
      return true;
    },
  });
  return { runId, sessionId, isNew };
}

async function begin(deployment: Deployment, caller: Caller, planned: Planned): Promise<void> {
  const { agent, input, runId, sessionId, timeZone } = planned;
  const asked = planned.policy === undefined ? {} : clampPolicy(planned.policy, deployment.policyLimits);
  const policy = await deployment.spending.within(caller, { ...deployment.policy, ...asked });
  const options = await deployment.optionsFor({ scope: caller.scope, sessionId });
  const { release } = deployment.atWork.expect(caller, sessionId);
  const place = timeZone !== undefined && isKnown(timeZone) ? { timeZone } : {};
  await whenStored({ ...options, session: sessionId, runId, policy, ...place }, (given) => {
    try {
      const handle = deployment.engine.run(agent, entriesOf(input), given);
      handle.then(release, release);
      return handle;
    } catch (thrown) {
      release();
      throw thrown;
    }
  });
}

/** A browser may be newer than this process, and know zones that it does not. */
function isKnown(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }) !== undefined;
  } catch {
    return false; // no such zone
  }
}

function entriesOf(input: RunRequest["input"]): readonly Entry[] {
  if (typeof input === "object" && "history" in input) return input.history;
  return [{ type: "user", content: input }];
}

/** Resolves at the first event of a run: what an event says is stored. */
function whenStored(options: RunOptions, start: (options: RunOptions) => Run): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hooks } = options;
    const onEvent: NonNullable<typeof hooks>["onEvent"] = (event) => {
      resolve();
      hooks?.onEvent?.(event);
    };
    start({ ...options, hooks: { ...hooks, onEvent } }).then(() => resolve(), reject);
  });
}

async function assertFree({ store }: Deployment, { sessionId, runId }: Planned): Promise<void> {
  const runs = await store.listRuns(sessionId);
  const open = runs.find((run) => run.state !== "ended" && run.runId !== runId);
  if (!open) return;
  const message = `The session "${sessionId}" has a run that is not over, "${open.runId}": answer it, wait for its end, or cancel it.`;
  throw new AgentError("session_busy", message);
}

/** The run that the same request has started; throws when it was another request. */
async function alreadyStarted(
  { store }: Deployment,
  planned: Planned,
  keyed: Keyed,
): Promise<true | undefined> {
  const { runId, agent, input } = planned;
  const sessionId = await store.findSession(runId);
  if (sessionId === undefined) return undefined;
  if (sessionId === planned.sessionId && (await wasAsked(store, keyed))) return true;
  const start = (await store.read(sessionId)).find(
    (fact): fact is Extract<Fact, { readonly type: "run_start" }> =>
      fact.type === "run_start" && fact.runId === runId,
  );
  const isSame =
    start !== undefined &&
    sessionId === planned.sessionId &&
    start.agent === agent.name &&
    isDeepStrictEqual(start.input, entriesOf(input)) &&
    says(start.policy, withoutBudget(planned.policy));
  if (!isSame) throw otherRequest();
  return true;
}

/** What is left of the day may have made it smaller than what was asked for. */
function withoutBudget(policy: unknown): unknown {
  const { budget: _, ...rest } = (policy ?? {}) as Record<string, unknown>;
  return rest;
}

/** Whether a value has all that was asked for: a policy is stored with what nobody asked for too. */
export function says(value: unknown, asked: unknown): boolean {
  if (typeof asked !== "object" || asked === null || Array.isArray(asked))
    return isDeepStrictEqual(value, asked);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(asked).every(([field, one]) => says(Reflect.get(value, field), one));
}

/** A new session of a user, see `scopeOf`; always the same one for the same seed. */
export function newSessionId(scope: string, seed: string = crypto.randomUUID()): string {
  return scope ? `${scope}~ses_${seed}` : `ses_${seed}`;
}
