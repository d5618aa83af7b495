import type { Part } from "capstan";

/** A file that goes along with what is said. */
export type Attachment = {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly part: Part;
};

/** Pictures made of points: what a browser shows without running anything. */
export const rasterTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** What a choice of files offers. */
export const acceptedTypes: string = [
  ...rasterTypes,
  "text/*",
  ".md,.json,.csv,.ts,.tsx,.js,.py,.yaml,.yml,.toml,.sql,.log",
].join(",");

const mostTextBytes = 500_000;
// A request has at most 4 MiB, and pictures grow by a third on their way.
const mostImageBytes = 2_500_000;
const mostBytes = 2_800_000;
const mostFiles = 10;

/** In words, for whoever wonders what may be attached. */
export const attachmentRules =
  "Images (PNG, JPEG, GIF, WebP) up to 2.5 MB and text files up to 500 kB; 10 files and 2.8 MB together.";

/** Adds files to those that are there; what cannot be taken is told in a sentence. */
export async function withFiles(
  attached: readonly Attachment[],
  files: readonly File[],
): Promise<{ readonly attachments: readonly Attachment[]; readonly problems: readonly string[] }> {
  const attachments = [...attached];
  const problems: string[] = [];
  for (const file of files) {
    const read = await attachmentOf(file);
    const size = attachments.reduce((sum, one) => sum + one.size, 0) + file.size;
    if (typeof read === "string") problems.push(read);
    else if (attachments.length >= mostFiles)
      problems.push(`“${file.name}” is one too many: 10 files at most.`);
    else if (size > mostBytes) problems.push(`“${file.name}” is too much: 2.8 MB together at most.`);
    else attachments.push(read);
  }
  return { attachments, problems };
}

async function attachmentOf(file: File): Promise<Attachment | string> {
  const { name, size, type } = file;
  const id = `${name} ${size} ${Math.random()}`;
  if (rasterTypes.includes(type)) {
    if (size > mostImageBytes) return `“${name}” is too large: images have at most 2.5 MB.`;
    return { id, name, size, part: { type: "image", mediaType: type, data: await base64Of(file) } };
  }
  if (size > mostTextBytes) return `“${name}” is too large: text files have at most 500 kB.`;
  const text = await textOf(file);
  if (text === undefined) return `“${name}” is neither an image that can be shown nor text.`;
  return { id, name, size, part: { type: "text", text: `${beginning(name)}${text}` } };
}

const beginning = (name: string) => `[Attached file: ${name.replaceAll(/[\r\n\]]/g, " ")}]\n`;

/** The file in a part of a message; nothing when the part is what somebody typed. */
export function attachedText(text: string): { readonly name: string; readonly content: string } | undefined {
  const found = /^\[Attached file: ([^\]\n]+)\]\n/.exec(text);
  return found ? { name: found[1] ?? "", content: text.slice(found[0].length) } : undefined;
}

async function textOf(file: File): Promise<string | undefined> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined; // no text
  }
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
