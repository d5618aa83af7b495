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
export function registryOf(tools: ToolRegistry): Registry {
  const entries: [string, Tool | ToolMaker][] = isList(tools)
    ? tools.map((tool) => [tool.name, tool])
    : Object.entries(tools);
  const registry = new Map<string, ToolMaker>();
  for (const [name, tool] of entries) {
    if (registry.has(name)) throw refused(`Two tools of the registry are named "${name}": rename one.`);
    registry.set(name, typeof tool === "function" ? (agent) => named(name, tool(agent)) : fixed(name, tool));
  }
  return registry;
}

function isList(tools: ToolRegistry): tools is readonly Tool[] {
  return Array.isArray(tools);
}

function fixed(name: string, tool: Tool): ToolMaker {
  named(name, tool);
  return () => tool;
}

function named(name: string, tool: Tool): Tool {
  if (tool?.name === name) return tool;
  throw refused(`The tool "${name}" of the registry is named "${tool?.name}": use the same name.`);
}

function refused(message: string): AgentError {
  return new AgentError("invalid_definition", message);
}
