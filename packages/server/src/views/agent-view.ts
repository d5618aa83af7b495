import type { Agent, Tool } from "capstan";
import type { ListedAgent } from "capstan/agents";
import type { AgentInfo, ToolInfo } from "capstan/client";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

/** One of the agents, for somebody who asks. */
export async function agentView(
  { agents }: Deployment,
  listed: ListedAgent,
  { isAdmin }: Caller,
): Promise<AgentInfo> {
  const { name } = listed;
  if (listed.source === "coded") return { name, source: "coded", ...madeOf(listed.agent) };
  const { source, version, data, createdAt, updatedAt, problem } = listed;
  // One that cannot run cannot be made either.
  const agent = problem === undefined ? await agents.agent(name, version) : undefined;
  return {
    ...{ name, source, version, createdAt, updatedAt },
    ...(data.description !== undefined && { description: data.description }),
    ...(agent ? madeOf(agent) : { models: [], tools: [], handoffs: [] }),
    ...(problem !== undefined && { problem }),
    ...(isAdmin && { data }),
  };
}

function madeOf(agent: Agent): Pick<AgentInfo, "models" | "tools" | "handoffs"> {
  return {
    models: agent.models.main.map((model) => (typeof model === "string" ? model : model.id)),
    tools: toolsOf(agent).map(toolView),
    handoffs: (agent.handoffs?.() ?? []).map(({ name }) => name),
  };
}

/** Those of an agent whose tools come and go are asked for, as a turn would. */
function toolsOf({ tools, toolSource }: Agent): readonly Tool[] {
  try {
    return toolSource?.() ?? [...tools.values()];
  } catch {
    return []; // at this moment there are none to be had
  }
}

/** One of the tools of an agent. */
export function toolView({
  name,
  description,
  effects,
  reads,
  needsApproval,
  execute,
  agent,
}: Tool): ToolInfo {
  return {
    ...{ name, description },
    ...(effects !== undefined && { effects }),
    ...(reads !== undefined && { reads }),
    needsApproval: needsApproval !== undefined,
    isClientSide: execute === undefined && agent === undefined,
  };
}
