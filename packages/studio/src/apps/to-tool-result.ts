import type { Json, Part } from "capstan";
import type { CallView } from "capstan/client";
import type { ToolResult } from "./app-bridge.ts";

/** Converts a finished call to the result that an app gets. */
export function toToolResult(call: CallView): ToolResult {
  const { state, result = "", data, error, ui } = call;
  if (state !== "ok") return toErrorResult(error?.message ?? `The call ended with the state "${state}".`);
  const parts: readonly Part[] = typeof result === "string" ? [{ type: "text", text: result }] : result;
  const isStructured = typeof data === "object" && data !== null && !Array.isArray(data);
  const { meta } = Object(ui?.props) as { readonly meta?: Json };
  return {
    content: parts.map(toContent),
    ...(isStructured && { structuredContent: data }),
    ...(meta !== undefined && { _meta: meta }),
  };
}

export function toErrorResult(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function toContent(part: Part): Json {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType, data } = part;
  if (part.type === "image" && typeof data === "string") return { type: "image", mimeType: mediaType, data };
  return { type: "text", text: `[${mediaType}]` };
}
