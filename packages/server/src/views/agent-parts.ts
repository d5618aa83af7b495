import type { Tool } from "capstan";
import { type PolicyLimits, resolvePolicyLimits, type StoredAgentsOptions } from "capstan/agents";

/** What the data of a stored agent may name. */
export type AgentParts = {
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
  readonly sources: readonly string[];
  /** Left out: any `provider/model`. */
  readonly models?: readonly string[];
  readonly policyLimits: PolicyLimits;
};

/** By what a server was given for them. */
export function agentParts(given: Omit<StoredAgentsOptions, "store" | "coded"> = {}): AgentParts {
  const { tools = [], sources = [], models, policyLimits } = given;
  const named: readonly (readonly [string, Tool | object])[] = Array.isArray(tools)
    ? tools.map((tool: Tool) => [tool.name, tool] as const)
    : Object.entries(tools);
  return {
    tools: named.map(([name, tool]) => ({
      name,
      // One that is made for each agent has no words before it is.
      ...("description" in tool && { description: tool.description }),
    })),
    sources,
    ...(models && { models: models.map((model) => (typeof model === "string" ? model : model.id)) }),
    policyLimits: resolvePolicyLimits(policyLimits),
  };
}
