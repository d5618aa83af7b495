import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type Part, type RunInput } from "capstan";

const maxTextBytes = 1_000_000;
const maxMediaBytes = 5_000_000;
const mediaTypes: { readonly [ending: string]: string } = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
  webm: "video/webm",
};

function findMediaType(name: string): string | undefined {
  return mediaTypes[name.split(".").at(-1)?.toLowerCase() ?? ""];
}

/** The user's message, after piped text. An `@word` in that text names no file: the user did not type it. */
export type Prompt = { readonly words: string; readonly piped?: string };

/** A prompt with its attached files, and the @words that are not files. */
export type PromptWithFiles = {
  readonly input: RunInput;
  readonly unknown: readonly string[];
};

type Attachments = { readonly texts: string[]; readonly media: Part[] };

/**
 * Appends the files that a prompt names as `@path` or `@"a path"`. An `@word` that is not a file stays as it is. Files
 * from outside are separate entries before the prompt: the user did not write them.
 */
export async function includeFiles({ words, piped }: Prompt, cwd: string): Promise<PromptWithFiles> {
  const names = [...words.matchAll(/(?<=^|\s)@(?:"([^"]+)"|(\S+))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
  const own: Attachments = { texts: [], media: [] };
  const external: Attachments = { texts: [], media: [] };
  const unknown: string[] = [];
  for (const name of new Set(names)) {
    const file = await findIncludedFile(name, cwd);
    if (file === undefined) {
      unknown.push(name);
      continue;
    }
    const { isExternalFile } = await import("@capstan/tools");
    const { texts, media } = (await isExternalFile(file.path)) ? external : own;
    const bytes = await readFile(file.path);
    const mediaType = findMediaType(file.name);
    if (mediaType === undefined)
      texts.push(`<file path=${JSON.stringify(file.name)}>\n${decodeFile(bytes, file.name)}\n</file>`);
    else media.push(toMediaPart(mediaType, bytes));
  }
  const typed = piped === undefined ? words : `${piped}\n\n${words}`;
  const content = joinAttachments({ texts: [typed, ...own.texts], media: own.media });
  if (external.texts.length + external.media.length === 0) return { input: content, unknown };
  const outside = { type: "user", content: joinAttachments(external), provenance: "external" } as const;
  return { input: [outside, { type: "user", content }], unknown };
}

function toMediaPart(mediaType: string, bytes: Buffer): Part {
  const type = mediaType.startsWith("image/") ? "image" : "file";
  return { type, mediaType, data: bytes.toString("base64") };
}

function joinAttachments({ texts, media }: Attachments): string | readonly Part[] {
  const text = texts.join("\n\n");
  if (media.length === 0) return text;
  return text === "" ? media : [{ type: "text", text }, ...media];
}

type IncludedFile = { readonly path: string; readonly name: string };

/** Finds the file, also without trailing punctuation. */
async function findIncludedFile(name: string, cwd: string): Promise<IncludedFile | undefined> {
  for (const candidate of [name, name.replace(/[.,;:!?)\]]+$/, "")]) {
    const path = resolve(cwd, candidate);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) continue;
    const maxBytes = findMediaType(candidate) === undefined ? maxTextBytes : maxMediaBytes;
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
    const message = `@${name} is neither text nor media. Attach text, PNG, JPEG, GIF, WebP, PDF, MP3, WAV, MP4 or WebM.`;
    throw new AgentError("invalid_input", message);
  }
}
