import { type Agent, AgentError } from "capstan";
import type { EnqueuedRun, LocalOptions } from "capstan/engines/local";
import type { ScheduledRun } from "capstan/schedules";
import { findQueuedRun, getScope } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { launchRun } from "./start-run.ts";

/** The parts of an engine that start the runs of schedules like requests of their users, and report what was missed. */
export function createScheduleParts(
  getDeployment: () => Deployment,
): Required<Pick<LocalOptions, "startScheduled" | "onMissed">> {
  return {
    startScheduled: (run, agent) => startScheduledRun(getDeployment(), run, agent),
    onMissed({ id }, count) {
      const message = `The schedule "${id}" has missed ${count} of its times.`;
      getDeployment().report(new AgentError("schedule_missed", message));
    },
  };
}

/**
 * Starts a run of a schedule like a request of its user, within the user's quotas. Finds the run if it was started before.
 * Rejects with `quota_exceeded`, and with `draining` while the server takes no new work.
 */
async function startScheduledRun(
  deployment: Deployment,
  { runId, sessionId, input, policy, settings, timeZone, tags }: ScheduledRun,
  agent: Agent,
): Promise<EnqueuedRun> {
  const { store, drain, shutdownSignal, quotas } = deployment;
  const isStored =
    (await store.findSession(runId)) !== undefined || (await findQueuedRun(store, runId)) !== undefined;
  if (isStored) return { runId, sessionId, state: "found" };
  if (drain.isOn || shutdownSignal.aborted)
    throw new AgentError("draining", "The server accepts no new work for now.");
  const scope = getScope(sessionId);
  const caller = { user: scope, scope, isAdmin: false, quotas: await quotas.resolve(scope) };
  const plan = { agent, runId, sessionId, policy, settings, timeZone, tags, canWait: true };
  const { state } = await launchRun(deployment, caller, { ...plan, input: { history: input } });
  return { runId, sessionId, state };
}
