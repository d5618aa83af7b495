import { type Agent, AgentError, type Fact } from "capstan";
import { clampPolicy } from "capstan/agents";
import { loadRunStart } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import { readRequestSettings } from "../access/request-settings.ts";
import type { Deployment } from "../deployment.ts";
import { storeFork } from "../sessions/branches.ts";
import {
  createKeyConflictError,
  type KeyedRequest,
  matchesStoredRequest,
  runOnce,
  storeRequest,
} from "./idempotency.ts";
import { createSessionId, includesFields, type StartedRun } from "./start-run.ts";

export type RerunRequest = {
  readonly runId: string;
  readonly policy?: unknown;
  readonly settings?: unknown;
  readonly key?: string | undefined;
};

type RunStart = Extract<Fact, { readonly type: "run_start" }>;

/**
 * Runs the input of a run again, in a fork of its session from before that run. The original session is unchanged.
 */
export async function rerunRun(
  deployment: Deployment,
  caller: Caller,
  { key, ...request }: RerunRequest,
): Promise<Omit<StartedRun, "state">> {
  const { store } = deployment;
  const { policy = {}, settings = {} } = request;
  const start = await getRunStart(deployment, request.runId);
  const sessionId = createSessionId(caller.scope, key);
  const keyed: KeyedRequest = { sessionId, id: "session", request };
  const { value: made, isNew } = await runOnce(deployment, {
    id: sessionId,
    async find() {
      const last = (await store.listRuns(sessionId, 1)).at(-1);
      if (!last) return undefined;
      if (await matchesStoredRequest(store, keyed)) return last.runId;
      const known = await getRunStart(deployment, last.runId);
      if (!includesFields(known.policy, policy) || !includesFields(known.settings ?? {}, settings))
        throw createKeyConflictError();
      return last.runId;
    },
    async create() {
      const made = await startRerun(deployment, caller, { ...request, start, sessionId });
      if (key !== undefined) await storeRequest(store, keyed);
      return made;
    },
  });
  return { runId: made, sessionId, isNew };
}

type RerunPlan = RerunRequest & { readonly start: RunStart; readonly sessionId: string };

async function startRerun(
  deployment: Deployment,
  caller: Caller,
  { start, sessionId: id, ...request }: RerunPlan,
): Promise<string> {
  const { store, engine, policyLimits, quotaAdmission, activeRuns } = deployment;
  const agent = await loadAgent(deployment, start.agent);
  const asked = request.policy === undefined ? {} : clampPolicy(request.policy, policyLimits);
  const settings = readRequestSettings(request, caller, { agent, ...deployment });
  // The policy of an imported run is not that of its new run.
  const base = start.imported ? deployment.policy : { budget: start.policy.budget };
  const runId = `run_${crypto.randomUUID()}`;
  const admitted = await quotaAdmission.admit(caller, {
    runId,
    sessionId: id,
    policy: { ...base, ...asked },
  });
  let release = admitted.release;
  try {
    const options = await deployment.getRunOptions({ scope: caller.scope, sessionId: id });
    const place = activeRuns.reserve(caller, id);
    release = () => {
      admitted.release();
      place.release();
    };
    const session = start.sessionId;
    const { run, from } = await engine.rerun({
      ...options,
      ...{ session, agent, id, runId, at: start.seq, policy: admitted.policy, ...settings },
    });
    run.then(place.release, place.release);
    await storeFork(store, { sessionId: session, at: from.seq }, id);
    return run.id;
  } catch (thrown) {
    release();
    throw thrown;
  }
}

async function getRunStart({ store }: Deployment, runId: string): Promise<RunStart> {
  const start = await loadRunStart(store, runId);
  if (!start) throw new AgentError("unknown_run", `Run not found: "${runId}".`);
  return start;
}

async function loadAgent({ findAgent }: Deployment, name: string): Promise<Agent> {
  const agent = await findAgent(name);
  if (!agent) throw new AgentError("unknown_agent", `Agent ${JSON.stringify(name)} no longer exists.`);
  return agent;
}
