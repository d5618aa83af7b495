import { type Agent, AgentError, type Fact } from "capstan";
import { clampPolicy } from "capstan/agents";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { rememberFork } from "../sessions/branches.ts";
import { type Keyed, once, otherRequest, rememberAsked, wasAsked } from "./idempotency.ts";
import { newSessionId, type Started, says } from "./start-run.ts";

/** What to run again, and under which other policy. */
export type RerunRequest = {
  readonly runId: string;
  readonly policy?: unknown;
  readonly key?: string | undefined;
};

type Start = Extract<Fact, { readonly type: "run_start" }>;

/** Runs again what a run was asked, in a fork of its session from before it. The old session stays as it is. */
export async function rerunRun(
  deployment: Deployment,
  caller: Caller,
  { runId, policy, key }: RerunRequest,
): Promise<Started> {
  const { store } = deployment;
  const start = await startOf(deployment, runId);
  const sessionId = newSessionId(caller.scope, key);
  const keyed: Keyed = { sessionId, id: "session", request: { runId, policy } };
  const { made, isNew } = await once(deployment, {
    id: sessionId,
    async find() {
      const last = (await store.listRuns(sessionId)).at(-1);
      if (!last) return undefined;
      if (await wasAsked(store, keyed)) return last.runId;
      if (!says((await startOf(deployment, last.runId)).policy, policy ?? {})) throw otherRequest();
      return last.runId;
    },
    async make() {
      const made = await begin(deployment, caller, { start, sessionId, policy });
      if (key !== undefined) await rememberAsked(store, keyed);
      return made;
    },
  });
  return { runId: made, sessionId, isNew };
}

type Beginning = { readonly start: Start; readonly sessionId: string; readonly policy: unknown };

async function begin(
  deployment: Deployment,
  caller: Caller,
  { start, sessionId: id, policy }: Beginning,
): Promise<string> {
  const { store, engine, policyLimits, spending, atWork } = deployment;
  const agent = await agentOf(deployment, start.agent);
  const asked = policy === undefined ? {} : clampPolicy(policy, policyLimits);
  const within = await spending.within(caller, { budget: start.policy.budget, ...asked });
  const options = await deployment.optionsFor({ scope: caller.scope, sessionId: id });
  const { release } = atWork.expect(caller, id);
  try {
    const session = start.sessionId;
    const { run, from } = await engine.rerun({
      ...options,
      ...{ session, agent, id, at: start.seq, policy: within },
    });
    run.then(release, release);
    await rememberFork(store, { sessionId: session, at: from.seq }, id);
    return run.id;
  } catch (thrown) {
    release();
    throw thrown;
  }
}

async function startOf({ store }: Deployment, runId: string): Promise<Start> {
  const facts = await store.read((await store.findSession(runId)) ?? "");
  const start = facts.find((fact): fact is Start => fact.type === "run_start" && fact.runId === runId);
  if (!start) throw new AgentError("unknown_run", `There is no run "${runId}".`);
  return start;
}

async function agentOf({ findAgent }: Deployment, name: string): Promise<Agent> {
  const agent = await findAgent(name);
  if (!agent) throw new AgentError("unknown_agent", `The agent ${JSON.stringify(name)} is gone.`);
  return agent;
}
