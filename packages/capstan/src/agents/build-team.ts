import { AgentError } from "../base/errors.ts";
import { type Agent, defineAgent, type ModelChoice } from "../kernel/agent.ts";
import { standardInstructions } from "../kernel/prompt.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import type { AgentData } from "./agent-data.ts";
import { applyLimits, type PolicyLimits } from "./policy-limits.ts";
import { clampSettings, type SettingsLimits } from "./settings-limits.ts";
import type { Registry } from "./tool-registry.ts";

export type TeamParts = {
  readonly coded: ReadonlyMap<string, Agent>;
  readonly registry: Registry;
  readonly models: ReadonlyMap<string, ModelChoice> | undefined;
  readonly limits: PolicyLimits;
  readonly settingsLimits: SettingsLimits;
  /** Returns the validated data of a stored agent. */
  getMemberData(name: string): AgentData | undefined;
};

/** Builds the agent and every agent reachable by handoffs, including circular ones. */
export function buildTeam(name: string, parts: TeamParts): Agent {
  const team = new Map<string, Agent>(parts.coded);
  function addMember(member: string): void {
    if (team.has(member)) return;
    const data = parts.getMemberData(member);
    if (!data) throw new AgentError("unknown_agent", `Agent ${JSON.stringify(member)} not found.`);
    team.set(member, buildAgent(data, parts, team));
    for (const next of data.handoffs ?? []) addMember(next);
  }
  addMember(name);
  return team.get(name) as Agent;
}

function buildAgent(data: AgentData, parts: TeamParts, team: ReadonlyMap<string, Agent>): Agent {
  const { name, prompt = "", tools = [], handoffs = [] } = data;
  const policy = applyLimits(data.policy ?? {}, parts.limits);
  const settings = applySettingsLimits(data, parts.settingsLimits);
  const agent = defineAgent({
    name,
    model: resolveModels(data, parts),
    instructions: standardInstructions(formatIdentity(data), {
      ...(prompt.trim() && { constraints: prompt }),
      toolFirst: policy.requireToolFirst ?? false,
    }),
    tools: tools.flatMap((tool) => parts.registry.get(tool)?.(data) ?? []),
    // Resolved lazily, because handoffs may be circular.
    ...(handoffs.length > 0 && { handoffs: () => handoffs.flatMap((target) => team.get(target) ?? []) }),
    policy,
  });
  // Set here, because `defineAgent` would print a warning each time the agent is built: see `StoredAgent.warning`.
  return Object.keys(settings).length > 0 ? { ...agent, settings } : agent;
}

/** An output limit also applies to agents that set none, and an effort to agents whose model always thinks. */
function applySettingsLimits({ settings, policy }: AgentData, limits: SettingsLimits): ModelSettings {
  const { effort, maxOutputTokens } = limits;
  const implied: ModelSettings = {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(effort !== undefined && policy?.thinking === "on" && { effort: "medium" }),
  };
  return clampSettings({ ...implied, ...settings }, limits);
}

function formatIdentity({ name, description = "" }: AgentData): string {
  return [`You are "${name}".`, description.trim()].filter((text) => text !== "").join(" ");
}

function resolveModels({ model }: AgentData, { models }: TeamParts): readonly ModelChoice[] {
  const names = model === undefined ? [...(models?.keys() ?? [])].slice(0, 1) : [model].flat();
  return (names as string[]).map((name) => models?.get(name) ?? name);
}
