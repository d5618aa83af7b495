import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type Part } from "capstan";

const maxBytes = 1_000_000;
const imageTypes: { readonly [ending: string]: string } = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** A prompt with its attached files, and the @words that are not files. */
export type PromptWithFiles = {
  readonly input: string | readonly Part[];
  readonly unknown: readonly string[];
};

/** Appends the files that a prompt names as `@path` or `@"a path"`. An `@word` that is not a file stays as it is. */
export async function includeFiles(prompt: string, cwd: string): Promise<PromptWithFiles> {
  const names = [...prompt.matchAll(/(?<=^|\s)@(?:"([^"]+)"|(\S+))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
  const parts: Part[] = [];
  const texts: string[] = [];
  const unknown: string[] = [];
  for (const name of new Set(names)) {
    const file = await findFile(name, cwd);
    if (file === undefined) {
      unknown.push(name);
      continue;
    }
    const bytes = await readFile(file.path);
    const mediaType = imageTypes[file.name.split(".").at(-1)?.toLowerCase() ?? ""];
    if (mediaType === undefined)
      texts.push(`<file path=${JSON.stringify(file.name)}>\n${decodeFile(bytes, file.name)}\n</file>`);
    else parts.push({ type: "image", mediaType, data: bytes.toString("base64") });
  }
  const text = [prompt, ...texts].join("\n\n");
  return { input: parts.length > 0 ? [{ type: "text", text }, ...parts] : text, unknown };
}

type IncludedFile = { readonly path: string; readonly name: string };

/** Finds the file, also without trailing punctuation. */
async function findFile(name: string, cwd: string): Promise<IncludedFile | undefined> {
  for (const candidate of [name, name.replace(/[.,;:!?)\]]+$/, "")]) {
    const path = resolve(cwd, candidate);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) continue;
    if (found.size <= maxBytes) return { path, name: candidate };
    const message = `@${candidate} is too large: ${found.size} bytes, the limit is ${maxBytes}.`;
    throw new AgentError("invalid_input", message);
  }
  return undefined;
}

function decodeFile(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const message = `@${name} is neither text nor an image. Attach text, PNG, JPEG, GIF or WebP.`;
    throw new AgentError("invalid_input", message);
  }
}
