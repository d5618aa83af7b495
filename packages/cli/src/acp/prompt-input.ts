import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { AgentError, createApplicationEntry, type Entry, type Part } from "capstan";

const imageTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/**
 * Converts the blocks of a prompt to run input: a string when all blocks are text. Text and images are the user's.
 * Resources become a separate entry of the application; the text refers to them by number.
 */
export function toRunInput(
  prompt: readonly ContentBlock[],
  cwd: string,
): string | readonly Part[] | readonly Entry[] {
  const resources = createResourceList(cwd);
  const parts = prompt.map((block): Part => {
    if (block.type === "text") return { type: "text", text: block.text };
    if (block.type === "image") return toImage(block.mimeType, block.data);
    if (block.type === "audio")
      throw new AgentError("invalid_input", "Audio is not supported. Send text or images.");
    return { type: "text", text: resources.add(block) };
  });
  const text = parts.flatMap((part) => (part.type === "text" && part.text) || []).join("\n\n");
  const images = parts.filter((part) => part.type !== "text");
  if (text.trim() === "" && images.length === 0)
    throw new AgentError("invalid_input", "The prompt is empty.");
  const content = images.length > 0 ? [...(text ? [{ type: "text" as const, text }] : []), ...images] : text;
  const context = resources.toEntry();
  return context ? [context, { type: "user", content }] : content;
}

type ResourceBlock = Extract<ContentBlock, { readonly type: "resource" | "resource_link" }>;

/** Collects the resources of a prompt. */
function createResourceList(cwd: string) {
  const texts: string[] = [];
  const files: Part[] = [];
  return {
    /** Returns the reference to the resource for the user's text. */
    add(block: ResourceBlock): string {
      const reference = `resource ${texts.length + 1}`;
      const source = block.type === "resource" ? block.resource : block;
      const name = formatReference(source.uri, cwd);
      if (block.type === "resource_link") texts.push(`${reference}: ${name}`);
      else if ("text" in block.resource) texts.push(`${reference}: ${name}\n${block.resource.text}`);
      else {
        texts.push(`${reference}: ${name}, attached`);
        files.push(toFile(block.resource));
      }
      return `[${reference}]`;
    },
    toEntry: (): Entry | undefined =>
      texts.length > 0 ? createApplicationEntry(texts.join("\n\n"), files) : undefined,
  };
}

function toFile({ mimeType, blob }: { readonly mimeType?: string | null; readonly blob: string }): Part {
  const mediaType = mimeType ?? "application/octet-stream";
  return mediaType.startsWith("image/") ? toImage(mediaType, blob) : { type: "file", mediaType, data: blob };
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
