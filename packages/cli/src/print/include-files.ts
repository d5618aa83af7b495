import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type Part, type RunInput } from "capstan";

const maxBytes = 1_000_000;
const imageTypes: { readonly [ending: string]: string } = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** The user's message, after piped text. An `@word` in that text names no file: the user did not type it. */
export type Prompt = { readonly words: string; readonly piped?: string };

/** A prompt with its attached files, and the @words that are not files. */
export type PromptWithFiles = {
  readonly input: RunInput;
  readonly unknown: readonly string[];
};

type Attachments = { readonly texts: string[]; readonly images: Part[] };

/**
 * Appends the files that a prompt names as `@path` or `@"a path"`. An `@word` that is not a file stays as it is. Files
 * from outside are entries of their own, before the prompt: the user did not write them.
 */
export async function includeFiles({ words, piped }: Prompt, cwd: string): Promise<PromptWithFiles> {
  const names = [...words.matchAll(/(?<=^|\s)@(?:"([^"]+)"|(\S+))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
  const own: Attachments = { texts: [], images: [] };
  const external: Attachments = { texts: [], images: [] };
  const unknown: string[] = [];
  for (const name of new Set(names)) {
    const file = await findFile(name, cwd);
    if (file === undefined) {
      unknown.push(name);
      continue;
    }
    const { isExternalFile } = await import("@capstan/tools");
    const { texts, images } = (await isExternalFile(file.path)) ? external : own;
    const bytes = await readFile(file.path);
    const mediaType = imageTypes[file.name.split(".").at(-1)?.toLowerCase() ?? ""];
    if (mediaType === undefined)
      texts.push(`<file path=${JSON.stringify(file.name)}>\n${decodeFile(bytes, file.name)}\n</file>`);
    else images.push({ type: "image", mediaType, data: bytes.toString("base64") });
  }
  const typed = piped === undefined ? words : `${piped}\n\n${words}`;
  const content = toContent({ texts: [typed, ...own.texts], images: own.images });
  if (external.texts.length + external.images.length === 0) return { input: content, unknown };
  const outside = { type: "user", content: toContent(external), provenance: "external" } as const;
  return { input: [outside, { type: "user", content }], unknown };
}

function toContent({ texts, images }: Attachments): string | readonly Part[] {
  const text = texts.join("\n\n");
  if (images.length === 0) return text;
  return text === "" ? images : [{ type: "text", text }, ...images];
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
