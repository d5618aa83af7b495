import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { AgentError, type Tool } from "capstan";
import type { Service } from "./call-server.ts";
import type { Common } from "./config.ts";
import { type Definition, definitionOf, fingerprintOf } from "./fingerprint.ts";
import { makeTool, shownDescription, toolName } from "./tool.ts";
import type { Trust } from "./trust.ts";

/** A tool that is not what it was when it was trusted. It is off until it is trusted again. */
export type ChangedTool = { readonly name: string; readonly was: Definition; readonly is: Definition };

/** The tools of one server, as they were last listed. */
export interface ToolList {
  readonly tools: readonly Tool[];
  readonly changed: readonly ChangedTool[];
  /** Why some tools are not offered, or are looked at with suspicion. */
  readonly problems: readonly string[];
  update(listed: readonly McpTool[], serverName: string): void;
  /** Trusts what has changed: one tool by the server's name for it, or all. */
  trust(tool?: string): void;
}

export type ToolListOptions = {
  readonly server: string;
  readonly config: Common;
  readonly service: Service;
  readonly trust: Trust;
};

const mostTools = 1_000;
const mostCharacters = 2_000_000;

type Entry = { readonly tool: McpTool; readonly fingerprint: string; readonly made: Tool | undefined };

export function toolList(options: ToolListOptions): ToolList {
  const { server, trust } = options;
  let entries = new Map<string, Entry>();
  let problems: string[] = [];
  const isTrusted = ({ tool, fingerprint }: Entry) =>
    trust.get(server, tool.name)?.fingerprint === fingerprint;

  /** A tool that an agent still holds may have changed or gone since. */
  function check(name: string, fingerprint: string): void {
    const now = entries.get(name);
    if (!now)
      throw new AgentError("unknown_tool", `The MCP server "${server}" no longer has the tool "${name}".`);
    if (now.fingerprint === fingerprint && isTrusted(now)) return;
    const message = `The tool "${name}" of the MCP server "${server}" is not what it was when it was trusted. It is off until a person trusts it again.`;
    throw new AgentError("mcp_untrusted", message);
  }

  function entryOf(tool: McpTool, fingerprint: string): Entry {
    const suspicion = suspicionOf(tool, server);
    if (suspicion) problems.push(suspicion);
    const earlier = entries.get(tool.name);
    if (earlier?.fingerprint === fingerprint && earlier.made) return { ...earlier, tool };
    try {
      const made = makeTool(tool, {
        ...options,
        isSuspicious: suspicion !== undefined,
        check: () => check(tool.name, fingerprint),
      });
      return { tool, fingerprint, made };
    } catch (error) {
      problems.push(`The tool "${tool.name}" is not offered: ${(error as Error).message}`);
      return { tool, fingerprint, made: undefined };
    }
  }

  return {
    get tools() {
      return [...entries.values()].flatMap((entry) => (entry.made && isTrusted(entry) ? [entry.made] : []));
    },
    get changed() {
      return [...entries.values()].flatMap((entry) => {
        const was = trust.get(server, entry.tool.name);
        if (!was || isTrusted(entry)) return [];
        return [{ name: entry.tool.name, was: JSON.parse(was.definition), is: definitionOf(entry.tool) }];
      });
    },
    get problems() {
      return problems;
    },
    update(listed, serverName) {
      const usable = usableOf(listed, options.config);
      problems = [...usable.problems];
      entries = new Map(
        usable.tools.map((tool) => [tool.name, entryOf(tool, fingerprintOf(tool, serverName))]),
      );
      for (const entry of entries.values()) if (!trust.get(server, entry.tool.name)) keep(entry);
    },
    trust(name) {
      for (const entry of entries.values()) if (name === undefined || entry.tool.name === name) keep(entry);
    },
  };

  function keep({ tool, fingerprint }: Entry): void {
    trust.set(server, tool.name, { fingerprint, definition: JSON.stringify(definitionOf(tool)) });
  }
}

/** The tools that have a name of their own, in ASCII, and are not too many. */
function usableOf(
  listed: readonly McpTool[],
  { tools = {} }: Common,
): { tools: McpTool[]; problems: string[] } {
  const usable = new Map<string, McpTool>();
  const problems: string[] = [];
  let characters = 0;
  for (const tool of listed) {
    if (Object.hasOwn(tools, tool.name) && tools[tool.name]?.enabled === false) continue;
    if (usable.size >= mostTools) break;
    const size = sizeOf(tool);
    if (size === undefined) {
      problems.push(
        `The tool "${tool.name.slice(0, 80)}" is not offered: its definition is nested too deeply.`,
      );
      continue;
    }
    characters += size;
    if (characters > mostCharacters) break;
    if (!/^[A-Za-z0-9_.-]{1,80}$/.test(tool.name))
      problems.push(
        `The tool ${JSON.stringify(tool.name.slice(0, 80))} is not offered: its name is not 1 to 80 ASCII letters, digits, "_", "-" and ".".`,
      );
    else if (usable.has(tool.name))
      problems.push(`The tool "${tool.name}" is listed twice: the second one is not offered.`);
    else usable.set(tool.name, tool);
  }
  if (usable.size < listed.length && (usable.size >= mostTools || characters > mostCharacters))
    problems.push(
      `The server lists ${listed.length} tools: only the first ${usable.size} are offered (at most ${mostTools}, and ${mostCharacters} characters). Switch off what is not needed.`,
    );
  return { tools: [...usable.values()], problems };
}

function sizeOf(tool: McpTool): number | undefined {
  try {
    return JSON.stringify(definitionOf(tool)).length;
  } catch {
    return undefined;
  }
}

/** Words that are meant for the model and hidden from people, or that speak of another server's tools. */
function suspicionOf(tool: McpTool, server: string): string | undefined {
  const { description = "" } = tool;
  if (shownDescription(tool).includes("\\u{") && !description.includes("\\u{"))
    return `The description of "${tool.name}" holds characters that cannot be seen.`;
  const [other] =
    description.match(/\bmcp_[A-Za-z0-9_-]+/g)?.filter((name) => !name.startsWith(toolName(server, ""))) ??
    [];
  if (other) return `The description of "${tool.name}" speaks of "${other}", a tool of another server.`;
  return undefined;
}
