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

/** A prompt with what it brings along, and the words with @ that are no files. */
export type PromptWithFiles = {
  readonly input: string | readonly Part[];
  readonly unknown: readonly string[];
};

/** Puts the files that a prompt names as `@path`, or `@"a path"`, behind it. An `@word` that is no file stays a word. */
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
      texts.push(`<file path=${JSON.stringify(file.name)}>\n${decodeText(bytes, file.name)}\n</file>`);
    else parts.push({ type: "image", mediaType, data: bytes.toString("base64") });
  }
  const text = [prompt, ...texts].join("\n\n");
  return { input: parts.length > 0 ? [{ type: "text", text }, ...parts] : text, unknown };
}

type IncludedFile = { readonly path: string; readonly name: string };

/** The point behind a sentence is not part of a name. */
async function findFile(name: string, cwd: string): Promise<IncludedFile | undefined> {
  for (const candidate of [name, name.replace(/[.,;:!?)\]]+$/, "")]) {
    const path = resolve(cwd, candidate);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) continue;
    if (found.size <= maxBytes) return { path, name: candidate };
    const message = `@${candidate} has ${found.size} bytes, more than the ${maxBytes} that a prompt may bring: name a smaller part of it.`;
    throw new AgentError("invalid_input", message);
  }
  return undefined;
}

function decodeText(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const message = `@${name} is no text and no picture: name a file of text, PNG, JPEG, GIF or WebP.`;
    throw new AgentError("invalid_input", message);
  }
}
