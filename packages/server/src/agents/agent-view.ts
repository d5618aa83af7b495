import type { Agent, Tool } from "capstan";
import type { AgentData, ListedAgent } from "capstan/agents";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

/** A tool as people choose agents by it. */
export type ToolView = {
  readonly name: string;
  readonly description: string;
  /** Left out: nobody has said what it changes. */
  readonly effects?: Tool["effects"];
  readonly reads?: Tool["reads"];
  /** A person may have to agree to a call. */
  readonly needsApproval: boolean;
  /** The client runs it: the run waits for the result. */
  readonly isClientSide: boolean;
};

/** An agent as clients see it: nothing of how it is made, and no key. */
export type AgentView = {
  readonly name: string;
  readonly source: ListedAgent["source"];
  readonly description?: string;
  /** The names of those that are asked, the first one first. */
  readonly models: readonly string[];
  readonly tools: readonly ToolView[];
  readonly handoffs: readonly string[];
  /** Why it cannot run. */
  readonly problem?: string;
  readonly version?: number;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** Of a stored one what it is made of, for those who may change it. */
  readonly data?: AgentData;
};

/** One of the agents, for somebody who asks. */
export async function agentView(
  { agents }: Deployment,
  listed: ListedAgent,
  { isAdmin }: Caller,
): Promise<AgentView> {
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

function madeOf(agent: Agent): Pick<AgentView, "models" | "tools" | "handoffs"> {
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
}: Tool): ToolView {
  return {
    ...{ name, description },
    ...(effects !== undefined && { effects }),
    ...(reads !== undefined && { reads }),
    needsApproval: needsApproval !== undefined,
    isClientSide: execute === undefined && agent === undefined,
  };
}
