import { type Agent, backgroundWorkName, handoffName } from "../../kernel/agent.ts";
import { getReadResult, readResultName } from "../../kernel/read-result.ts";
import { searchToolsName, type Tool } from "../../kernel/tool.ts";
import { getHandoff } from "../handoffs/handoff-tool.ts";
import { getBackgroundWork } from "../nested/background-work.ts";
import { getSearchTool } from "../tool-search/search-tools.ts";

/** Finds a tool by name: the agent's own, or a built-in one. */
export function findTool(agent: Agent, name: string): Tool | undefined {
  // Checked first, because dynamic tools must not replace the handoff tool.
  if (name === handoffName && agent.handoffs?.().length) return getHandoff();
  const tool = agent.tools.get(name);
  // The model cannot call a tool that its provider executes.
  if (tool && !(tool.hosted && !tool.execute)) return tool;
  if (name === searchToolsName && agent.specs.length > 0) return getSearchTool(agent);
  if (name === readResultName) return getReadResult();
  return name === backgroundWorkName ? getBackgroundWork() : undefined;
}
