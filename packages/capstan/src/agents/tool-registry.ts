import { AgentError } from "../errors.ts";
import type { Tool } from "../tool.ts";
import type { AgentData } from "./agent-data.ts";

/** Makes a tool for one agent, such as a search of its `sources` and of no others. */
export type ToolMaker = (agent: AgentData) => Tool;

/** The tools that stored agents may use: a list, or by name. */
export type ToolRegistry = readonly Tool[] | { readonly [name: string]: Tool | ToolMaker };

/** By name, in a map, so that no name of `Object.prototype` is ever a tool. */
export type Registry = ReadonlyMap<string, ToolMaker>;

/** The registry in one form. Throws `invalid_definition` for a tool that has another name than its place. */
export function buildRegistry(tools: ToolRegistry): Registry {
  const entries: [string, Tool | ToolMaker][] = isList(tools)
    ? tools.map((tool) => [tool.name, tool])
    : Object.entries(tools);
  const registry = new Map<string, ToolMaker>();
  for (const [name, tool] of entries) {
    if (registry.has(name))
      throw createRegistryError(`Two tools of the registry are named "${name}": rename one.`);
    registry.set(
      name,
      typeof tool === "function" ? (agent) => assertToolName(name, tool(agent)) : toToolMaker(name, tool),
    );
  }
  return registry;
}

function isList(tools: ToolRegistry): tools is readonly Tool[] {
  return Array.isArray(tools);
}

function toToolMaker(name: string, tool: Tool): ToolMaker {
  assertToolName(name, tool);
  return () => tool;
}

function assertToolName(name: string, tool: Tool): Tool {
  if (tool?.name === name) return tool;
  throw createRegistryError(
    `The tool "${name}" of the registry is named "${tool?.name}": use the same name.`,
  );
}

function createRegistryError(message: string): AgentError {
  return new AgentError("invalid_definition", message);
}
