import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { defineTool, escapeInvisible, type Tool } from "capstan";
import type { CommonConfig } from "../config/server-config.ts";
import { callTool, type ServerService } from "./call-tool.ts";
import { resolveLabels } from "./labels.ts";

const maxDescriptionLength = 2_048;

/** Returns the tool name that the model sees. */
export function formatToolName(server: string, tool: string): string {
  return `mcp_${server}_${tool}`;
}

/** Returns the description for the model: truncated, with invisible characters escaped. */
export function formatDescription({ description = "", title }: McpTool): string {
  const text = description || title || "";
  const truncated =
    text.length > maxDescriptionLength ? `${text.slice(0, maxDescriptionLength).toWellFormed()}…` : text;
  return truncated.split("\n").map(escapeInvisible).join("\n");
}

export type CreateToolOptions = {
  readonly server: string;
  readonly config: CommonConfig;
  readonly service: ServerService;
  /** The description contains more than a description. */
  readonly isSuspicious: boolean;
  /** Throws if the tool may no longer be called. */
  assertTrusted(): void;
};

/** Converts a server's tool. Throws `invalid_definition` for a schema that cannot be checked safely. */
export function createTool(
  tool: McpTool,
  { server, config, service, isSuspicious, assertTrusted }: CreateToolOptions,
): Tool {
  const toolConfig =
    config.tools && Object.hasOwn(config.tools, tool.name) ? config.tools[tool.name] : undefined;
  const timeoutMs = toolConfig?.timeout ?? config.timeout;
  const { needsApproval, ...labels } = resolveLabels(tool.name, tool.annotations ?? {}, config);
  return defineTool({
    name: formatToolName(server, tool.name),
    description: formatDescription(tool),
    input: tool.inputSchema,
    ...(tool.outputSchema && { output: tool.outputSchema }),
    ...labels,
    ...(isSuspicious && { foreign: true }),
    ...(needsApproval && { needsApproval }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    async execute(input, context) {
      assertTrusted();
      return callTool(service, { tool, input: input as Record<string, unknown>, assertTrusted }, context);
    },
  });
}
