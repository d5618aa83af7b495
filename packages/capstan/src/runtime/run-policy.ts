import { hasBackgroundTools } from "../features/nested/background-work.ts";
import type { Agent } from "../kernel/agent.ts";
import { type Policy, type PolicyOverrides, resolvePolicy } from "../kernel/policy.ts";

/** An agent that waits for its background work receives what the user says meanwhile. */
const backgroundPolicy: PolicyOverrides = { onBusy: "steer" };

/** The policies of runs without their own settings, which most runs share. */
const agentPolicies = new WeakMap<Agent, Policy>();

/** Resolves the policy of a run: its own settings, then the agent's, then the defaults. */
export function resolveRunPolicy(agent: Agent, policy: PolicyOverrides | undefined): Policy {
  const known = policy ? undefined : agentPolicies.get(agent);
  if (known) return known;
  const background = hasBackgroundTools(agent) ? backgroundPolicy : undefined;
  const resolved = resolvePolicy(policy, agent.policy, background);
  if (!policy) agentPolicies.set(agent, resolved);
  return resolved;
}
