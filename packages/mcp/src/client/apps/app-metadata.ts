import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { isRecord } from "capstan";

/** The extension of MCP that lets tools have a user interface, and the media type of such an interface. */
export const appExtension = "io.modelcontextprotocol/ui";
export const appMediaType = "text/html;profile=mcp-app";

/** What a tool declares about its MCP App. */
export type AppMetadata = {
  /** The `ui://` resource that shows the results of the tool. */
  readonly uri?: string;
  /** Whether the model gets the tool. */
  readonly isForModel: boolean;
  /** Whether the apps of its server may call the tool. */
  readonly isForApp: boolean;
};

const maxUriLength = 1_000;

/** Reads what a tool declares. Anything invalid counts as not declared, and an empty visibility as hidden. */
export function readAppMetadata({ _meta: meta }: Pick<McpTool, "_meta">): AppMetadata {
  const declared = isRecord(meta?.ui) ? meta.ui : {};
  // Servers written before the extension was final use a flat key.
  const uri = declared.resourceUri ?? meta?.["ui/resourceUri"];
  const visibility: readonly unknown[] = Array.isArray(declared.visibility)
    ? declared.visibility
    : ["model", "app"];
  return {
    ...(isAppUri(uri) && { uri }),
    isForModel: visibility.includes("model"),
    isForApp: visibility.includes("app"),
  };
}

function isAppUri(uri: unknown): uri is string {
  return typeof uri === "string" && uri.startsWith("ui://") && uri.length <= maxUriLength;
}
