import { isRecord, type Json } from "../../base/json.ts";
import type { CitedSource, HostedCall, HostedKind, HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Chunk } from "../../kernel/model.ts";
import { filterRecords, toList } from "../wire.ts";

type Fields = { readonly [field: string]: Json };

/** Claude 4.5 and earlier have the first versions of the tools. */
const olderModels = /claude-(?:3|[a-z]+-4(?![-.][6-9](?!\d)))/;

/** Converts hosted tools to the API's definitions: tools, and servers for the MCP connector. Clouds have first versions. */
export function buildHostedFields(
  hosted: readonly HostedToolSpec[],
  model: string,
  isCloud: boolean,
): { readonly tools: readonly Fields[]; readonly servers: readonly Fields[] } {
  const isOlder = isCloud || olderModels.test(model);
  // Without code execution, results come as separate blocks, not through code that filters them.
  const callers = hosted.some(({ kind }) => kind === "codeExecution") ? {} : { allowed_callers: ["direct"] };
  return {
    tools: hosted.map((tool) => ({ ...buildTool(tool, isOlder, callers), ...tool.options.extra })),
    servers: hosted.flatMap((tool) => (tool.kind === "mcp" ? [buildServer(tool.options)] : [])),
  };
}

function buildTool(tool: HostedToolSpec, isOlder: boolean, callers: Fields): Fields {
  switch (tool.kind) {
    case "webSearch": {
      const { userLocation } = tool.options;
      return {
        ...{ type: isOlder ? "web_search_20250305" : "web_search_20260318", name: "web_search" },
        ...(!isOlder && callers),
        ...buildDomains(tool.options),
        ...(userLocation && { user_location: { type: "approximate", ...userLocation } }),
      };
    }
    case "webFetch":
      return {
        ...{ type: isOlder ? "web_fetch_20250910" : "web_fetch_20260318", name: "web_fetch" },
        ...(!isOlder && callers),
        ...{ ...buildDomains(tool.options), citations: { enabled: true } },
      };
    case "codeExecution":
      return {
        type: isOlder ? "code_execution_20250825" : "code_execution_20260521",
        name: "code_execution",
      };
    case "mcp": {
      const { label, allowedTools } = tool.options;
      const configs = allowedTools?.map((name) => [name, { enabled: true }] as const);
      return {
        ...{ type: "mcp_toolset", mcp_server_name: label },
        ...(configs && { default_config: { enabled: false }, configs: Object.fromEntries(configs) }),
      };
    }
    case "computer": {
      const { displayWidth, displayHeight } = tool.options;
      const type = isOlder ? "computer_20250124" : "computer_20251124";
      return { type, name: "computer", display_width_px: displayWidth, display_height_px: displayHeight };
    }
    case "toolSearch":
      return { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" };
    case "fileSearch":
    case "imageGeneration":
      return {}; // not available: see hosted/support.ts
  }
}

type Domains = {
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  readonly maxUses?: number;
};

function buildDomains({ allowedDomains, blockedDomains, maxUses }: Domains): Fields {
  return {
    ...(allowedDomains && { allowed_domains: [...allowedDomains] }),
    ...(blockedDomains && { blocked_domains: [...blockedDomains] }),
    ...(maxUses !== undefined && { max_uses: maxUses }),
  };
}

function buildServer({ label, url, token }: Extract<HostedToolSpec, { kind: "mcp" }>["options"]): Fields {
  return { type: "url", name: label, url, ...(token !== undefined && { authorization_token: token }) };
}

/** Returns the beta features that the tools need, for the header `anthropic-beta`. */
export function listBetas(hosted: readonly HostedToolSpec[], model: string): readonly string[] {
  return hosted.flatMap(({ kind }) => {
    if (kind === "mcp") return "mcp-client-2025-11-20";
    if (kind !== "computer") return [];
    return olderModels.test(model) ? "computer-use-2025-01-24" : "computer-use-2025-11-24";
  });
}

type Block = { readonly [field: string]: unknown };

const kindsByName: ReadonlyMap<unknown, HostedKind> = new Map<unknown, HostedKind>([
  ["web_search", "webSearch"],
  ["web_fetch", "webFetch"],
  ["code_execution", "codeExecution"],
  ["bash_code_execution", "codeExecution"],
  ["text_editor_code_execution", "codeExecution"],
  ["mcp", "mcp"],
  ["tool_search_tool_bm25", "toolSearch"],
  ["tool_search", "toolSearch"], // the prefix of its result
]);

/** Returns the chunk of a block that is a call of a server tool, or its result. `isDone` is false at its start. */
export function toHostedChunks(block: Block, isDone: boolean): readonly Chunk[] {
  const { type, id, name, tool_use_id: callId, input } = block;
  if (type === "server_tool_use" || type === "mcp_tool_use") {
    const kind = type === "mcp_tool_use" ? "mcp" : kindsByName.get(name);
    if (!kind || typeof id !== "string") return [];
    const isNamed = kind === "mcp" && typeof name === "string";
    const call = { id, kind, ...(isNamed && { name }), ...(isDone && { input: (input ?? {}) as Json }) };
    return [{ type: "hosted", call }];
  }
  const kind = kindsByName.get(/^(\w+)_tool_result$/.exec(String(type))?.[1]);
  if (!kind || !isDone || typeof callId !== "string") return [];
  const outcome = readOutcome(kind, block);
  return [{ type: "hosted", call: { id: callId, kind, outcome } }];
}

type Outcome = NonNullable<HostedCall["outcome"]>;

function readOutcome(kind: HostedKind, { content, is_error: isFailed }: Block): Outcome {
  if (isRecord(content) && content.error_code !== undefined)
    return { isError: true, text: String(content.error_code) };
  if (kind === "webSearch") {
    const sources = filterRecords(content).map(({ title, url }) => ({ title, url }) as Fields);
    return {
      ...{ isError: false, searches: 1, text: sources.map(({ title, url }) => `${title} ${url}`).join("\n") },
      ...(sources.length > 0 && { data: { sources } }),
    };
  }
  if (kind === "toolSearch") {
    const { tool_references: found } = isRecord(content) ? content : {};
    return {
      isError: false,
      text: filterRecords(found)
        .map(({ tool_name: name }) => name)
        .join(", "),
    };
  }
  if (kind === "webFetch") return { isError: false, text: formatPage(content) };
  if (kind === "codeExecution") {
    const { stdout, stderr, return_code: code } = isRecord(content) ? content : {};
    const text = [stdout, stderr].filter((output) => typeof output === "string" && output !== "").join("\n");
    return { isError: typeof code === "number" && code !== 0, text };
  }
  const texts = filterRecords(content).map(({ text }) => String(text ?? ""));
  return { isError: isFailed === true, text: typeof content === "string" ? content : texts.join("\n") };
}

function formatPage(content: unknown): string {
  const { url, content: document } = isRecord(content) ? content : {};
  const { title, source } = isRecord(document) ? document : {};
  const text = isRecord(source) && source.type === "text" ? source.data : undefined;
  return [title, url, text].filter((line) => typeof line === "string" && line !== "").join("\n");
}

/** Returns the sources that a block of text cites. */
export function toClaudeCitations(citations: unknown): readonly Chunk[] {
  return toList(citations)
    .filter(isRecord)
    .flatMap(toClaudeSource)
    .map((source) => ({ type: "citation", source }));
}

function toClaudeSource(citation: Block): readonly CitedSource[] {
  const { url, source, title, document_title: documentTitle, document_index: index } = citation;
  const link = typeof url === "string" ? url : source;
  if (typeof link === "string") {
    const isLink = /^https?:/.test(link);
    return [{ id: link, title: typeof title === "string" ? title : link, ...(isLink && { url: link }) }];
  }
  if (typeof index !== "number") return [];
  const name = typeof documentTitle === "string" ? documentTitle : `Document ${index + 1}`;
  return [{ id: `document ${index}: ${name}`, title: name }];
}
