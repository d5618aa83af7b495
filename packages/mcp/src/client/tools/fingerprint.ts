import { createHash } from "node:crypto";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { readExamples } from "./tool-text.ts";

/**
 * The trusted parts of a tool: everything the model reads, everything that affects its labels, and what it declares about
 * its app.
 */
export type Definition = Pick<
  McpTool,
  "name" | "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
> & { readonly ui?: unknown; readonly examples?: unknown };

/** Computes the fingerprint of a tool. It includes the server's name: the same tool of another server is another tool. */
export function computeFingerprint(tool: McpTool, serverName: string): string {
  return createHash("sha256")
    .update(stringifySorted([serverName, pickDefinition(tool)]))
    .digest("base64url");
}

/** Computes the fingerprint of a server from the fingerprints of its tools, in any order. */
export function joinFingerprints(fingerprints: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(fingerprints.toSorted())).digest("base64url");
}

export function pickDefinition(tool: McpTool): Definition {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta: meta } = tool;
  const examples = readExamples(tool);
  const ui = meta?.ui ?? meta?.["ui/resourceUri"];
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    ...(ui !== undefined && { ui }),
    ...(examples.length > 0 && { examples }),
  };
}

/**
 * Serializes a value independently of its key order. Not the core's canonical JSON: fingerprints are stored, and this
 * form omits undefined fields and puts integer-like keys first.
 */
function stringifySorted(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : 1)))
      : item,
  );
}
