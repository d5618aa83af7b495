import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { AgentError, type JsonSchema, type Tool } from "capstan";
import { type AppMetadata, readAppMetadata } from "../apps/app-metadata.ts";
import type { CommonConfig } from "../config/server-config.ts";
import type { ServerService } from "./call-tool.ts";
import { type CreateToolOptions, createTool, toExternalTool } from "./create-tool.ts";
import { computeFingerprint, type Definition, joinFingerprints, pickDefinition } from "./fingerprint.ts";
import { findSuspicion } from "./tool-text.ts";
import type { TrustedTool, TrustStore } from "./trust.ts";

/** A tool that changed since it was trusted. It is disabled until it is trusted again. */
export type ChangedTool = { readonly name: string; readonly was: Definition; readonly is: Definition };

/** What the model reads of a tool, or would read if the tool were not disabled. */
export type ToolMetadata = {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly isApproved: boolean;
};

/** What the model reads of a server. The fingerprint changes with every text. */
export type ServerMetadata = { readonly fingerprint: string; readonly tools: readonly ToolMetadata[] };

/** The tools of one server, as of the last listing. */
export interface ToolList {
  /** The tools for models. */
  readonly tools: readonly Tool[];
  /** The tools that the apps of the server may call, by the server's name for them. */
  readonly appTools: ReadonlyMap<string, Tool>;
  readonly changed: readonly ChangedTool[];
  readonly metadata: ServerMetadata;
  /** Why tools are not offered or are suspicious. */
  readonly problems: readonly string[];
  /** Returns the `ui://` resource of a tool, by the name that the model uses. */
  findAppUri(tool: string): string | undefined;
  update(listed: readonly McpTool[], serverName: string): void;
  /** Approves the metadata of one tool, by the server's name for it, or of all, and enables changed tools. */
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
  readonly app: AppMetadata;
  readonly fingerprint: string;
  /** Why the tool is suspicious or cannot be offered. */
  readonly problem?: string;
  /** Undefined if the tool cannot be offered. */
  readonly offered?: { readonly approved: Tool; readonly external: Tool };
};

export function createToolList(options: ToolListOptions): ToolList {
  const { server, trust, config } = options;
  let entries = new Map<string, ToolEntry>();
  let problems: readonly string[] = [];
  const isTrusted = ({ tool, fingerprint }: ToolEntry) =>
    trust.get(server, tool.name)?.fingerprint === fingerprint;
  // The operator trusts a server without reading its texts, so suspicious ones need the user.
  const isApproved = (entry: ToolEntry) =>
    isTrusted(entry) &&
    (trust.get(server, entry.tool.name)?.approved === true ||
      (config.trust === "metadata" && entry.problem === undefined));
  const pickTool = (entry: ToolEntry) => entry.offered?.[isApproved(entry) ? "approved" : "external"];

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
    const previous = entries.get(tool.name);
    if (previous?.fingerprint === fingerprint && previous.offered)
      return { ...previous, tool, app: readAppMetadata(tool) };
    return buildEntry(tool, fingerprint, {
      ...options,
      assertTrusted: () => assertTrusted(tool.name, fingerprint),
    });
  }

  function trustEntry({ tool, fingerprint }: ToolEntry, approval: { readonly approved?: true }): void {
    const definition = JSON.stringify(pickDefinition(tool));
    trust.set(server, tool.name, { fingerprint, definition, ...approval });
  }

  const listOffered = (isOffered: (app: AppMetadata) => boolean) =>
    [...entries.values()].flatMap((entry): [string, Tool][] => {
      const tool = isTrusted(entry) && isOffered(entry.app) && pickTool(entry);
      return tool ? [[entry.tool.name, tool]] : [];
    });

  return {
    get tools() {
      return listOffered(({ isForModel }) => isForModel).map(([, tool]) => tool);
    },
    get appTools() {
      return new Map(listOffered(({ isForApp }) => isForApp));
    },
    findAppUri(name) {
      const entry = [...entries.values()].find(({ offered }) => offered?.approved.name === name);
      return entry && isTrusted(entry) ? entry.app.uri : undefined;
    },
    get changed() {
      return [...entries.values()].flatMap((entry) =>
        isTrusted(entry) ? [] : describeChange(entry, trust.get(server, entry.tool.name)),
      );
    },
    get metadata() {
      const listed = [...entries.values()];
      return {
        fingerprint: joinFingerprints(listed.map(({ fingerprint }) => fingerprint)),
        tools: listed.flatMap((entry) => toMetadata(entry.app, pickTool(entry), isApproved(entry))),
      };
    },
    get problems() {
      return problems;
    },
    update(listed, serverName) {
      const usable = filterUsableTools(listed, config);
      entries = new Map(
        usable.tools.map((tool) => [tool.name, createEntry(tool, computeFingerprint(tool, serverName))]),
      );
      problems = [...usable.problems, ...[...entries.values()].flatMap(({ problem }) => problem ?? [])];
      for (const entry of entries.values()) if (!trust.get(server, entry.tool.name)) trustEntry(entry, {});
    },
    trust(name) {
      for (const entry of entries.values())
        if (name === undefined || entry.tool.name === name) trustEntry(entry, { approved: true });
    },
  };
}

function buildEntry(tool: McpTool, fingerprint: string, options: CreateToolOptions): ToolEntry {
  const { server } = options;
  const shared = { tool, fingerprint, app: readAppMetadata(tool) };
  try {
    const approved = createTool(tool, options);
    const problem = findSuspicion(tool, server);
    const external = toExternalTool(approved, server, problem !== undefined);
    return { ...shared, ...(problem && { problem }), offered: { approved, external } };
  } catch (error) {
    const problem = `The tool "${tool.name}" is not offered: ${(error as Error).message}`;
    return { ...shared, problem };
  }
}

function describeChange({ tool }: ToolEntry, was: TrustedTool | undefined): readonly ChangedTool[] {
  return was ? [{ name: tool.name, was: JSON.parse(was.definition), is: pickDefinition(tool) }] : [];
}

function toMetadata(app: AppMetadata, tool: Tool | undefined, isApproved: boolean): readonly ToolMetadata[] {
  if (!tool || !app.isForModel) return [];
  const { name, description, schema, examples } = tool;
  // An approval covers the examples, so the user sees them too.
  const input = examples ? { ...schema.json, examples } : schema.json;
  return [{ name, description, input, isApproved }];
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
