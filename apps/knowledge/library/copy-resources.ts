import { createHash } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FoundDocument } from "./find-documents.ts";
import type { FoundFiles, SkippedFile } from "./find-files.ts";
import { findFormat } from "./parse/formats.ts";

/** Reads resources of MCP servers, as `mcpTools()` does. */
export interface ResourceReader {
  resources(server: string): Promise<readonly Resource[]>;
  readResource(server: string, uri: string): Promise<{ readonly contents: readonly ResourceContent[] }>;
}

type Resource = { readonly uri: string; readonly name: string; readonly mimeType?: string | undefined };
type ResourceContent = { readonly text: string } | { readonly blob: string };

export type CopyOptions = {
  /** Gets the copies, in a folder `mcp`. */
  readonly folder: string;
  readonly signal: AbortSignal;
};

const maxResources = 1000;
const maxBytes = 20_000_000;

/** For a resource whose address does not say what it is. Others are read as text. */
const extensions: ReadonlyMap<string, string> = new Map([
  ["text/markdown", ".md"],
  ["text/html", ".html"],
  ["text/csv", ".csv"],
  ["application/json", ".json"],
  ["application/pdf", ".pdf"],
  ["message/rfc822", ".eml"],
]);

/**
 * Copies the resources of MCP servers to files, so that they are parsed and indexed like any document. A resource that
 * cannot be read is reported. Rejects if a server does not list its resources.
 */
export async function copyResources(
  reader: ResourceReader,
  servers: readonly string[],
  { folder, signal }: CopyOptions,
): Promise<FoundFiles> {
  const documents: FoundDocument[] = [];
  const skipped: SkippedFile[] = [];
  const target = join(folder, "mcp");
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const server of servers)
    for (const [index, resource] of (await reader.resources(server)).entries()) {
      signal.throwIfAborted();
      const id = `mcp://${server}/${resource.uri}`;
      try {
        if (index >= maxResources) throw new Error(`Only the first ${maxResources} resources are read.`);
        const bytes = await readBytes(reader, server, resource.uri);
        const file = join(target, createHash("sha256").update(id).digest("hex") + findExtension(resource));
        await writeChanged(file, bytes);
        const { size, mtimeMs } = await stat(file);
        documents.push({
          id,
          title: resource.name,
          place: resource.uri,
          source: "folder",
          file,
          size,
          mtimeMs,
        });
      } catch (error) {
        skipped.push({ item: id, reason: error instanceof Error ? error.message : String(error) });
      }
    }
  return { documents, skipped };
}

async function readBytes(reader: ResourceReader, server: string, uri: string): Promise<Buffer> {
  const { contents } = await reader.readResource(server, uri);
  const parts = contents.map((part) =>
    "text" in part ? Buffer.from(`${part.text}\n`) : Buffer.from(part.blob, "base64"),
  );
  const bytes = Buffer.concat(parts);
  if (bytes.length > maxBytes) throw new Error(`The resource is larger than ${maxBytes / 1_000_000} MB.`);
  return bytes;
}

function findExtension({ uri, mimeType = "" }: Resource): string {
  const known = extensions.get(mimeType.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  const path = URL.parse(uri)?.pathname ?? "";
  return known ?? (findFormat(path) ? extname(path).toLowerCase() : ".txt");
}

/** Leaves an unchanged copy alone, so that it is not indexed again. */
async function writeChanged(file: string, bytes: Buffer): Promise<void> {
  const old = await readFile(file).catch(() => undefined);
  if (!old?.equals(bytes)) await writeFile(file, bytes, { mode: 0o600 });
}
