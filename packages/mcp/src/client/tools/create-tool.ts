import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { defineTool, type Tool } from "capstan";
import type { CommonConfig } from "../config/server-config.ts";
import { callTool, type ServerService } from "./call-tool.ts";
import { resolveLabels } from "./labels.ts";
import {
  formatDescription,
  formatExamples,
  formatSchema,
  formatToolName,
  quoteText,
  readExamples,
} from "./tool-text.ts";

export type CreateToolOptions = {
  readonly server: string;
  readonly config: CommonConfig;
  readonly service: ServerService;
  /** Throws if the tool may no longer be called. */
  assertTrusted(): void;
};

/** Converts a server's tool. Throws `invalid_definition` for a schema that cannot be checked safely. */
export function createTool(
  tool: McpTool,
  { server, config, service, assertTrusted }: CreateToolOptions,
): Tool {
  const toolConfig =
    config.tools && Object.hasOwn(config.tools, tool.name) ? config.tools[tool.name] : undefined;
  const timeoutMs = toolConfig?.timeout ?? config.timeout;
  const defer = toolConfig?.defer ?? config.defer;
  const { needsApproval, ...labels } = resolveLabels(tool.name, tool.annotations ?? {}, config);
  const created = defineTool({
    name: formatToolName(server, tool.name),
    description: formatDescription(tool),
    input: tool.inputSchema,
    examples: readExamples(tool),
    ...(tool.outputSchema && { output: tool.outputSchema }),
    ...labels,
    ...(needsApproval && { needsApproval }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(defer !== undefined && { defer }),
    async execute(input, context) {
      assertTrusted();
      return callTool(service, { tool, input: input as Record<string, unknown>, assertTrusted }, context);
    },
  });
  const { schema, examples } = created;
  return {
    ...created,
    ...(examples && { examples: formatExamples(examples) }),
    schema: { ...schema, json: formatSchema(schema.json) },
  };
}

/**
 * Returns a tool whose metadata is not approved: the model reads who wrote it, and the gate treats them as
 * untrusted. Suspicious metadata counts against the server's own tools too.
 */
export function toExternalTool(tool: Tool, server: string, isSuspicious: boolean): Tool {
  return {
    ...tool,
    description: quoteText(tool.description, server),
    foreign: isSuspicious || `MCP server ${server}`,
  };
}
