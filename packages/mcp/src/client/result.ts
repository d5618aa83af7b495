import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { Part, ToolReturn } from "capstan";

/** What a server answered, as a Capstan tool says it. Links are named, never followed. */
export function toolReturn({ content, structuredContent, isError }: CallToolResult): ToolReturn {
  const parts = content.map(partOf);
  const said = parts.every((part) => part.type === "text")
    ? parts.map((part) => part.text).join("\n")
    : parts;
  if (isError) {
    if (said === "") return { error: "The tool failed." };
    return { error: typeof said === "string" ? said : "The tool failed.", content: said };
  }
  if (structuredContent === undefined) return { content: said };
  // Servers repeat the structure as text for clients that do not know it: once is enough.
  if (typeof said === "string" && (said === "" || isSame(said, structuredContent)))
    return { data: structuredContent };
  return { content: said, data: structuredContent };
}

function partOf(item: ContentBlock): Part {
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

function isSame(text: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
