import type { AgentRequest } from "../features/nested/call-agent.ts";
import { getRootState } from "../features/nested/nested-state.ts";
import { buildCancellation } from "../features/recovery/rules.ts";
import { computeAgentVersion } from "../kernel/agent-version.ts";
import type { FactBody } from "../kernel/event.ts";
import { findStricter, type Policy, resolvePolicy } from "../kernel/policy.ts";
import type { RunState, State } from "../kernel/state.ts";
import type { Log } from "./log.ts";
import { withMaskedLog } from "./masked-log.ts";
import type { RunServices } from "./services.ts";

/** The id of a nested run derives from its root run and its call, so it is the same after a crash. */
export function createNestedLog(
  services: RunServices,
  parent: State,
  { callId, agent }: { callId: string; agent: string },
): Log {
  const existing = parent.run?.nested.get(callId)?.run;
  const log = services.log.nested({
    runId: existing?.id ?? `${getRootState(parent).run?.id}~${callId}`,
    agent,
    parentRunId: parent.run?.id ?? "",
    parentCallId: callId,
  });
  return services.masking ? withMaskedLog(log, services.masking) : log;
}

export function buildNestedStart(
  { prompt, policy, agent, isBackground }: AgentRequest,
  parent: RunState,
): FactBody {
  return {
    type: "run_start",
    input: [{ type: "user", content: prompt }],
    policy: resolveNestedPolicy(policy, agent.policy, parent.policy),
    timeZone: parent.timeZone,
    agentVersion: computeAgentVersion(agent),
    ...(isBackground && { background: true }),
  };
}

/** The agent's policy, but never looser than the caller's. Both budgets apply, see `findSpentBudget`. */
function resolveNestedPolicy(
  own: AgentRequest["policy"],
  agents: AgentRequest["policy"],
  parent: Policy,
): Policy {
  const { approvals, approvalExpiresMs, gate } = parent;
  const policy = resolvePolicy(own, agents, { approvals, approvalExpiresMs, gate });
  return {
    ...policy,
    ...findStricter(policy, parent),
    ...(toLimit(policy.approvalExpiresMs) > toLimit(approvalExpiresMs) && { approvalExpiresMs }),
    // A nested run starts with its prompt and the labels of its caller, which no setting may drop.
    memory: "session",
  };
}

/** Runs that an earlier version started have no limit. */
const toLimit = (limit: number | "unlimited" | undefined): number =>
  typeof limit === "number" ? limit : Number.POSITIVE_INFINITY;

/** Ends the nested run that answers a call, innermost runs first. */
export async function endNestedRun(services: RunServices, parent: State, callId: string): Promise<void> {
  const child = parent.run?.nested.get(callId);
  if (!child?.run || child.run.done) return;
  for (const inner of child.run.nested.keys()) await endNestedRun(services, child, inner);
  const { isBackground, cancelReason } = child.run;
  const ended = `The ${isBackground ? "run that started this work" : "call that this run answers"} has ended.`;
  const reason = cancelReason ?? getRootState(parent).run?.cancelReason ?? ended;
  const log = createNestedLog(services, parent, { callId, agent: child.run.agent });
  await log.append([{ type: "cancel_requested", reason }, ...buildCancellation(child.run, reason)], "end");
}
