import { AgentError } from "../base/errors.ts";
import type { Tool } from "../kernel/tool.ts";
import type { AgentData } from "./agent-data.ts";

/** Creates a tool for one agent, for example a search limited to its `sources`. */
export type ToolMaker = (agent: AgentData) => Tool;

/** The tools that stored agents may use, as a list or by name. */
export type ToolRegistry = readonly Tool[] | { readonly [name: string]: Tool | ToolMaker };

/** A map, so that names on `Object.prototype` are never tools. */
export type Registry = ReadonlyMap<string, ToolMaker>;

/** Normalizes the registry. Throws `invalid_definition` if a tool's name differs from its key. */
export function buildRegistry(tools: ToolRegistry): Registry {
  const entries: [string, Tool | ToolMaker][] = isList(tools)
    ? tools.map((tool) => [tool.name, tool])
    : Object.entries(tools);
  const registry = new Map<string, ToolMaker>();
  for (const [name, tool] of entries) {
    if (registry.has(name))
      throw createRegistryError(`Two registered tools are named "${name}". Rename one.`);
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
  throw createRegistryError(`The tool registered as "${name}" is named "${tool?.name}". Use the same name.`);
}

function createRegistryError(message: string): AgentError {
  return new AgentError("invalid_definition", message);
}
