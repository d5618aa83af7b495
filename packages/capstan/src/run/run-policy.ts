import type { Agent } from "../agent.ts";
import { type Policy, type PolicyOverrides, resolvePolicy } from "../policy.ts";
import { hasBackgroundTools } from "../prompt/builtin-tools.ts";

/** An agent that waits for its background work receives what the user says meanwhile. */
const backgroundPolicy: PolicyOverrides = { onBusy: "steer" };

/** Resolves the policy of a run: its own settings, then the agent's, then the defaults. */
export function resolveRunPolicy(agent: Agent, policy: PolicyOverrides | undefined): Policy {
  return resolvePolicy(policy, agent.policy, hasBackgroundTools(agent) ? backgroundPolicy : undefined);
}
