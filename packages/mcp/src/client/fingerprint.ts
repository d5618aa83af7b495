import { createHash } from "node:crypto";
import type { Tool as McpTool } from "@modelcontextprotocol/client";

/** What a person trusts when they trust a tool: all that the model reads of it and all that labels it. */
export type Definition = Pick<
  McpTool,
  "name" | "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
>;

/** What of a server's tool is trusted. The server's own name belongs to it: another server is another tool. */
export function fingerprintOf(tool: McpTool, serverName: string): string {
  return createHash("sha256")
    .update(canonical([serverName, definitionOf(tool)]))
    .digest("base64url");
}

export function definitionOf(tool: McpTool): Definition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return { name, title, description, inputSchema, outputSchema, annotations };
}

/** The same text for the same value, in whatever order a server writes its keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : 1)))
      : item,
  );
}
