import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { Part, ToolReturn } from "capstan";

/** Converts a server's result. Links are named, never followed. */
export function toToolReturn({ content, structuredContent, isError }: CallToolResult): ToolReturn {
  const parts = content.map(toPart);
  const output = parts.every((part) => part.type === "text")
    ? parts.map((part) => part.text).join("\n")
    : parts;
  if (isError) {
    if (output === "") return { error: "The tool failed." };
    return { error: typeof output === "string" ? output : "The tool failed.", content: output };
  }
  if (structuredContent === undefined) return { content: output };
  // Servers repeat structured content as text for older clients: keep one of them.
  if (typeof output === "string" && (output === "" || isSameJson(output, structuredContent)))
    return { data: structuredContent };
  return { content: output, data: structuredContent };
}

function toPart(item: ContentBlock): Part {
  switch (item.type) {
    case "text":
      return { type: "text", text: item.text };
    case "image":
      return { type: "image", mediaType: item.mimeType, data: item.data };
    case "audio":
      return { type: "file", mediaType: item.mimeType, data: item.data };
    case "resource_link": {
      const about = [item.title ?? item.name, item.description].filter(Boolean).join(": ");
      return { type: "text", text: `[link to ${item.uri} (${about})]` };
    }
    case "resource": {
      const { uri, mimeType = "application/octet-stream" } = item.resource;
      if ("blob" in item.resource) return { type: "file", mediaType: mimeType, data: item.resource.blob };
      return { type: "text", text: `[${uri}]\n${item.resource.text}` };
    }
    default:
      return { type: "text", text: `[${(item as { type: string }).type}]` };
  }
}

function isSameJson(text: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
