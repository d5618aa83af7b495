export {
  computeAgentVersion,
  describeVersion,
  type VersionedDefinition,
  type VersionedTool,
} from "../kernel/agent-version.ts";
export { resolvePolicy } from "../kernel/policy.ts";
export type { AgentData } from "./agent-data.ts";
export {
  type AgentVersion,
  listAgentVersions,
  removeAgentVersions,
  restoreAgent,
  storeAgentVersion,
} from "./agent-versions.ts";
export { applyLimits, clampPolicy, type PolicyLimits, resolvePolicyLimits } from "./policy-limits.ts";
export {
  checkSettingsLimits,
  clampSettings,
  readSettings,
  type SettingsLimits,
} from "./settings-limits.ts";
export {
  type ListedAgent,
  type StoredAgent,
  type StoredAgents,
  type StoredAgentsOptions,
  storedAgents,
} from "./stored-agents.ts";
export type { ToolMaker, ToolRegistry } from "./tool-registry.ts";
