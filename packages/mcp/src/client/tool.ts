import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { defineTool, escapeInvisible, type Tool } from "capstan";
import { callServer, type Service } from "./call-server.ts";
import type { Common } from "./config.ts";
import { labelsOf } from "./labels.ts";

const longestDescription = 2_048;

/** The name that the model knows a server's tool by. */
export function toolName(server: string, tool: string): string {
  return `mcp_${server}_${tool}`;
}

/** What the model reads about a tool: with everything in it that cannot be seen written out, and not without end. */
export function shownDescription({ description = "", title }: McpTool): string {
  const text = description || title || "";
  const cut =
    text.length > longestDescription ? `${text.slice(0, longestDescription).toWellFormed()}…` : text;
  return cut.split("\n").map(escapeInvisible).join("\n");
}

export type Made = {
  readonly server: string;
  readonly config: Common;
  readonly service: Service;
  /** Its words have been found to be more than a description. */
  readonly isSuspicious: boolean;
  /** Throws when it may not be called any more. */
  check(): void;
};

/** A server's tool as a Capstan tool. Throws `invalid_definition` for a schema that cannot be checked safely. */
export function makeTool(tool: McpTool, { server, config, service, isSuspicious, check }: Made): Tool {
  const own = config.tools && Object.hasOwn(config.tools, tool.name) ? config.tools[tool.name] : undefined;
  const timeoutMs = own?.timeout ?? config.timeout;
  const { needsApproval, ...labels } = labelsOf(tool.name, tool.annotations ?? {}, config);
  return defineTool({
    name: toolName(server, tool.name),
    description: shownDescription(tool),
    input: tool.inputSchema,
    ...(tool.outputSchema && { output: tool.outputSchema }),
    ...labels,
    ...(isSuspicious && { foreign: true }),
    ...(needsApproval && { needsApproval }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    async execute(input, context) {
      check();
      return callServer(service, { tool, input: input as Record<string, unknown>, check }, context);
    },
  });
}
