import type { Tool } from "capstan";
import {
  type PolicyLimits,
  resolvePolicyLimits,
  type SettingsLimits,
  type StoredAgentsOptions,
} from "capstan/agents";

/** Tools, sources and models that a stored agent may use. */
export type AgentParts = {
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
  readonly sources: readonly string[];
  /** Omitted if any `provider/model` is allowed. */
  readonly models?: readonly string[];
  readonly policyLimits: PolicyLimits;
  readonly settingsLimits: SettingsLimits;
};

export function buildAgentParts(given: Omit<StoredAgentsOptions, "store" | "coded"> = {}): AgentParts {
  const { tools = [], sources = [], models, policyLimits, settingsLimits = {} } = given;
  const named: readonly (readonly [string, Tool | object])[] = Array.isArray(tools)
    ? tools.map((tool: Tool) => [tool.name, tool] as const)
    : Object.entries(tools);
  return {
    tools: named.map(([name, tool]) => ({
      name,
      // A tool created per agent has no description yet.
      ...("description" in tool && { description: tool.description }),
    })),
    sources,
    ...(models && { models: models.map((model) => (typeof model === "string" ? model : model.id)) }),
    policyLimits: resolvePolicyLimits(policyLimits),
    settingsLimits,
  };
}
