import type { Agent, SkillInfo, Tool } from "capstan";
import type { ListedAgent } from "capstan/agents";
import type { AgentInfo, ToolInfo } from "capstan/client";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import type { DataAgent } from "../own-data/data-agents.ts";

/** Describes an agent to a caller; admins also get the data of stored agents. */
export async function buildAgentView(
  { agents }: Deployment,
  listed: ListedAgent | DataAgent,
  { isAdmin }: Caller,
): Promise<AgentInfo> {
  const { name } = listed;
  if (listed.source === "coded") return { name, source: "coded", ...describeAgent(listed.agent) };
  if (listed.source === "data") return buildDataAgentView(listed);
  const { source, version, data, createdAt, updatedAt, problem, warning } = listed;
  // An agent with a problem cannot be created.
  const agent = problem === undefined ? await agents.agent(name, version) : undefined;
  return {
    ...{ name, source, version, createdAt, updatedAt },
    ...(data.description !== undefined && { description: data.description }),
    ...(agent ? describeAgent(agent) : noParts),
    ...(problem !== undefined && { problem }),
    ...(isAdmin && { data, ...(warning !== undefined && { warning }) }),
  };
}

function buildDataAgentView({ name, agent, profile, problem }: DataAgent): AgentInfo {
  return {
    ...{ name, source: "data" },
    ...(profile.description !== undefined && { description: profile.description }),
    ...(agent ? describeAgent(agent) : noParts),
    ...(problem !== undefined && { problem }),
  };
}

const noParts = { models: [], tools: [], handoffs: [] };

function describeAgent(agent: Agent): Pick<AgentInfo, "models" | "tools" | "skills" | "handoffs"> {
  const tools = listAgentTools(agent);
  const skills = tools.flatMap((tool) => (tool.skills ?? []).map(buildSkillView));
  return {
    models: agent.models.main.map((model) => (typeof model === "string" ? model : model.id)),
    tools: tools.map(buildToolView),
    ...(skills.length > 0 && { skills }),
    handoffs: (agent.handoffs?.() ?? []).map(({ name }) => name),
  };
}

/** Resolves dynamic tools, as a turn would. */
function listAgentTools({ tools, toolSource }: Agent): readonly Tool[] {
  try {
    return toolSource?.() ?? [...tools.values()];
  } catch {
    return []; // currently unavailable
  }
}

/** Without the folder, which users of a server must not see. */
const buildSkillView = ({ name, description, provenance }: SkillInfo): SkillInfo => ({
  name,
  description,
  provenance,
});

export function buildToolView({
  name,
  description,
  examples = [],
  effects,
  reads,
  needsApproval,
  execute,
  agent,
  hosted,
}: Tool): ToolInfo {
  return {
    ...{ name, description },
    ...(examples.length > 0 && { examples: examples.map(({ phrase }) => phrase) }),
    ...(effects !== undefined && { effects }),
    ...(reads !== undefined && { reads }),
    needsApproval: needsApproval !== undefined,
    isClientSide: execute === undefined && agent === undefined && hosted === undefined,
  };
}
