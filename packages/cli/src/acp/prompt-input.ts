import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { AgentError, type Part } from "capstan";

const imageTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Converts the blocks of a prompt to run input: a string when all blocks are text. */
export function toRunInput(prompt: readonly ContentBlock[], cwd: string): string | readonly Part[] {
  const parts = prompt.map((block) => toPromptPart(block, cwd));
  const texts = parts.map((part) => (part.type === "text" ? part.text : "")).filter((text) => text !== "");
  const others = parts.filter((part) => part.type !== "text");
  const text = texts.join("\n\n");
  if (text.trim() === "" && others.length === 0)
    throw new AgentError("invalid_input", "The prompt is empty.");
  if (others.length === 0) return text;
  return [...(text === "" ? [] : [{ type: "text" as const, text }]), ...others];
}

function toPromptPart(block: ContentBlock, cwd: string): Part {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return toImage(block.mimeType, block.data);
    case "resource_link":
      return { type: "text", text: `<resource ${formatReference(block.uri, cwd)} />` };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) {
        const text = `<resource ${formatReference(resource.uri, cwd)}>\n${resource.text}\n</resource>`;
        return { type: "text", text };
      }
      const mediaType = resource.mimeType ?? "application/octet-stream";
      if (mediaType.startsWith("image/")) return toImage(mediaType, resource.blob);
      return { type: "file", mediaType, data: resource.blob };
    }
    case "audio":
      throw new AgentError("invalid_input", "Audio is not supported. Send text or images.");
  }
}

function toImage(mediaType: string, data: string): Part {
  if (imageTypes.includes(mediaType)) return { type: "image", mediaType, data };
  const message = `Image type ${JSON.stringify(mediaType)} is not supported. Send PNG, JPEG, GIF or WebP.`;
  throw new AgentError("invalid_input", message);
}

/** Names a file by its relative path, as the file tools do. */
function formatReference(uri: string, cwd: string): string {
  const way = findRelativePath(uri, cwd);
  return way === undefined ? `uri=${JSON.stringify(uri)}` : `path=${JSON.stringify(way)}`;
}

function findRelativePath(uri: string, cwd: string): string | undefined {
  if (!uri.startsWith("file://") || !URL.canParse(uri)) return undefined;
  try {
    const way = relative(cwd, fileURLToPath(new URL(uri).href.replace(/[?#].*$/, "")));
    return way === "" || way.startsWith("..") ? undefined : way.replaceAll("\\", "/");
  } catch {
    return undefined; // on another machine
  }
}
