import type { McpTools } from "@capstan/mcp";
import { type Agent, defineAgent, type Tool } from "capstan";
import type { AgentResolver } from "../runs/agent-resolver.ts";
import { appCallModel } from "./app-call-model.ts";

const appAgentPrefix = "mcp-app:";

/** Returns the name of the agent that makes the calls of a server's apps. */
export const getAppAgentName = (server: string): string => appAgentPrefix + server;

export const isAppAgent = (name: string): boolean => name.startsWith(appAgentPrefix);

/** Also finds the agents that make the calls of apps, so that any process can resume their runs. */
export function withAppAgents({ get, find }: AgentResolver, mcp: McpTools | undefined): AgentResolver {
  function findAppAgent(name: string): Agent | undefined {
    if (!mcp || !isAppAgent(name)) return undefined;
    const server = name.slice(appAgentPrefix.length);
    return mcp.status().some((status) => status.name === server) ? createAppAgent(mcp, server) : undefined;
  }
  return {
    get: async (name, model) => findAppAgent(name) ?? get(name, model),
    find: async (name) => findAppAgent(name) ?? find(name),
  };
}

function createAppAgent(mcp: McpTools, server: string): Agent {
  return defineAgent({
    name: getAppAgentName(server),
    model: appCallModel,
    tools: () => [...mcp.appTools(server).values()].map((tool) => withAppApproval(tool, server)),
    // The model needs no history, but the gate needs its labels.
    policy: { onBusy: "queue", contextBudget: "unlimited", deferToolsAbove: "unlimited" },
  });
}

/** The gate asks for effects by itself. This says who wants the call, and asks also where the gate is off. */
function withAppApproval(tool: Tool, server: string): Tool {
  if (tool.effects === "none") return tool;
  const reason = `An app of the MCP server "${server}" wants to make this call.`;
  return {
    ...tool,
    needsApproval: async (input, context) => (await tool.needsApproval?.(input, context)) || reason,
  };
}
