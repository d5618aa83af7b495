import type { CallToolResult } from "@modelcontextprotocol/client";
import { isRecord, type Json, type ToolReturn, type UiHint } from "capstan";

/** The kind of the UI hint of a result that an MCP App shows. */
export const appHintKind = "mcp_app";

const maxMetaSize = 2_000_000;

/** Adds the MCP App that shows a result. Errors and questions are shown without it. */
export function addAppHint(
  output: ToolReturn,
  app: { readonly server: string; readonly uri: string },
  { _meta: meta }: Pick<CallToolResult, "_meta">,
): ToolReturn {
  if (!isRecord(output) || "error" in output || "ask" in output) return output;
  // Servers put data for the app there that the model does not need.
  const hasMeta = meta !== undefined && JSON.stringify(meta).length <= maxMetaSize;
  const ui: UiHint = { kind: appHintKind, props: { ...app, ...(hasMeta && { meta: meta as Json }) } };
  return { ...output, ui };
}
