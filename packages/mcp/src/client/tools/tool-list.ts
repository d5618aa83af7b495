import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { AgentError, type Tool } from "capstan";
import type { CommonConfig } from "../config/server-config.ts";
import type { ServerService } from "./call-tool.ts";
import { createTool, formatDescription, formatToolName } from "./create-tool.ts";
import { computeFingerprint, type Definition, pickDefinition } from "./fingerprint.ts";
import type { TrustStore } from "./trust.ts";

/** A tool that changed since it was trusted. It is disabled until it is trusted again. */
export type ChangedTool = { readonly name: string; readonly was: Definition; readonly is: Definition };

/** The tools of one server, as of the last listing. */
export interface ToolList {
  readonly tools: readonly Tool[];
  readonly changed: readonly ChangedTool[];
  /** Why tools are not offered or are suspicious. */
  readonly problems: readonly string[];
  update(listed: readonly McpTool[], serverName: string): void;
  /** Trusts changed tools: one, by the server's name for it, or all. */
  trust(tool?: string): void;
}

export type ToolListOptions = {
  readonly server: string;
  readonly config: CommonConfig;
  readonly service: ServerService;
  readonly trust: TrustStore;
};

const maxTools = 1_000;
const maxCharacters = 2_000_000;

type ToolEntry = {
  readonly tool: McpTool;
  readonly fingerprint: string;
  readonly capstanTool: Tool | undefined;
};

export function createToolList(options: ToolListOptions): ToolList {
  const { server, trust } = options;
  let entries = new Map<string, ToolEntry>();
  let problems: string[] = [];
  const isTrusted = ({ tool, fingerprint }: ToolEntry) =>
    trust.get(server, tool.name)?.fingerprint === fingerprint;

  /** An agent may still hold a tool that has changed or disappeared. */
  function assertTrusted(name: string, fingerprint: string): void {
    const current = entries.get(name);
    if (!current)
      throw new AgentError("unknown_tool", `The MCP server "${server}" no longer has the tool "${name}".`);
    if (current.fingerprint === fingerprint && isTrusted(current)) return;
    const message = `The tool "${name}" of the MCP server "${server}" changed since it was trusted. It is disabled until the user trusts it again.`;
    throw new AgentError("mcp_untrusted", message);
  }

  function createEntry(tool: McpTool, fingerprint: string): ToolEntry {
    const reason = findSuspicion(tool, server);
    if (reason) problems.push(reason);
    const previous = entries.get(tool.name);
    if (previous?.fingerprint === fingerprint && previous.capstanTool) return { ...previous, tool };
    try {
      const capstanTool = createTool(tool, {
        ...options,
        isSuspicious: reason !== undefined,
        assertTrusted: () => assertTrusted(tool.name, fingerprint),
      });
      return { tool, fingerprint, capstanTool };
    } catch (error) {
      problems.push(`The tool "${tool.name}" is not offered: ${(error as Error).message}`);
      return { tool, fingerprint, capstanTool: undefined };
    }
  }

  return {
    get tools() {
      return [...entries.values()].flatMap((entry) =>
        entry.capstanTool && isTrusted(entry) ? [entry.capstanTool] : [],
      );
    },
    get changed() {
      return [...entries.values()].flatMap((entry) => {
        const was = trust.get(server, entry.tool.name);
        if (!was || isTrusted(entry)) return [];
        return [{ name: entry.tool.name, was: JSON.parse(was.definition), is: pickDefinition(entry.tool) }];
      });
    },
    get problems() {
      return problems;
    },
    update(listed, serverName) {
      const usable = filterUsableTools(listed, options.config);
      problems = [...usable.problems];
      entries = new Map(
        usable.tools.map((tool) => [tool.name, createEntry(tool, computeFingerprint(tool, serverName))]),
      );
      for (const entry of entries.values()) if (!trust.get(server, entry.tool.name)) trustEntry(entry);
    },
    trust(name) {
      for (const entry of entries.values())
        if (name === undefined || entry.tool.name === name) trustEntry(entry);
    },
  };

  function trustEntry({ tool, fingerprint }: ToolEntry): void {
    trust.set(server, tool.name, { fingerprint, definition: JSON.stringify(pickDefinition(tool)) });
  }
}

/** Filters out tools with duplicate or invalid names, and those beyond the limits. */
function filterUsableTools(
  listed: readonly McpTool[],
  { tools = {} }: CommonConfig,
): { tools: McpTool[]; problems: string[] } {
  const usable = new Map<string, McpTool>();
  const problems: string[] = [];
  let characters = 0;
  for (const tool of listed) {
    if (Object.hasOwn(tools, tool.name) && tools[tool.name]?.enabled === false) continue;
    if (usable.size >= maxTools) break;
    const size = measureDefinition(tool);
    if (size === undefined) {
      problems.push(
        `The tool "${tool.name.slice(0, 80)}" is not offered: its definition is nested too deeply.`,
      );
      continue;
    }
    characters += size;
    if (characters > maxCharacters) break;
    if (!/^[A-Za-z0-9_.-]{1,80}$/.test(tool.name))
      problems.push(
        `The tool ${JSON.stringify(tool.name.slice(0, 80))} is not offered: its name must be 1 to 80 ASCII letters, digits, "_", "-" or ".".`,
      );
    else if (usable.has(tool.name))
      problems.push(`The tool "${tool.name}" is listed twice: the second one is not offered.`);
    else usable.set(tool.name, tool);
  }
  if (usable.size < listed.length && (usable.size >= maxTools || characters > maxCharacters))
    problems.push(
      `The server lists ${listed.length} tools: only the first ${usable.size} are offered (at most ${maxTools}, and ${maxCharacters} characters). Disable tools you do not need.`,
    );
  return { tools: [...usable.values()], problems };
}

function measureDefinition(tool: McpTool): number | undefined {
  try {
    return JSON.stringify(pickDefinition(tool)).length;
  } catch {
    return undefined;
  }
}

/** Detects text that is hidden from the user, or that refers to tools of another server. */
function findSuspicion(tool: McpTool, server: string): string | undefined {
  const { description = "" } = tool;
  if (formatDescription(tool).includes("\\u{") && !description.includes("\\u{"))
    return `The description of "${tool.name}" contains invisible characters.`;
  const [other] =
    description
      .match(/\bmcp_[A-Za-z0-9_-]+/g)
      ?.filter((name) => !name.startsWith(formatToolName(server, ""))) ?? [];
  if (other) return `The description of "${tool.name}" mentions "${other}", a tool of another server.`;
  return undefined;
}
