import type { Part } from "capstan";

/** A file attached to a message. */
export type Attachment = {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly part: Part;
};

/** Raster formats, which a browser shows without executing anything. */
export const rasterTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Value of the file input's `accept` attribute. */
export const acceptedTypes: string = [
  ...rasterTypes,
  "application/pdf,audio/*,video/*,text/*",
  ".md,.json,.csv,.ts,.tsx,.js,.py,.yaml,.yml,.toml,.sql,.log",
].join(",");

const maxTextBytes = 500_000;
// A request is limited to 4 MiB, and base64 adds a third.
const maxMediaBytes = 2_500_000;
const maxTotalBytes = 2_800_000;
const maxFiles = 10;

export const attachmentRules =
  "Images (PNG, JPEG, GIF, WebP), PDF, audio and video up to 2.5 MB and text files up to 500 kB; at most 10 files and 2.8 MB in total.";

/** Adds files and returns a message for each file that cannot be attached. */
export async function addFiles(
  existing: readonly Attachment[],
  files: readonly File[],
): Promise<{ readonly attachments: readonly Attachment[]; readonly problems: readonly string[] }> {
  const attachments = [...existing];
  const problems: string[] = [];
  for (const file of files) {
    const result = await readAttachment(file);
    const size = attachments.reduce((sum, attachment) => sum + attachment.size, 0) + file.size;
    if (typeof result === "string") problems.push(result);
    else if (attachments.length >= maxFiles)
      problems.push(`“${file.name}” was not attached: the limit is 10 files.`);
    else if (size > maxTotalBytes)
      problems.push(`“${file.name}” was not attached: the limit is 2.8 MB in total.`);
    else attachments.push(result);
  }
  return { attachments, problems };
}

async function readAttachment(file: File): Promise<Attachment | string> {
  const { name, size, type } = file;
  const id = `${name} ${size} ${Math.random()}`;
  const isImage = rasterTypes.includes(type);
  if (isImage || isMediaFile(type)) {
    if (size > maxMediaBytes)
      return `“${name}” is too large: the limit for ${isImage ? "images" : "such files"} is 2.5 MB.`;
    const part = { type: isImage ? "image" : "file", mediaType: type, data: await readBase64(file) } as const;
    return { id, name, size, part };
  }
  if (size > maxTextBytes) return `“${name}” is too large: the limit for text files is 500 kB.`;
  const text = await readTextFile(file);
  if (text === undefined) return `“${name}” is not an image, PDF, audio, video or text file.`;
  return { id, name, size, part: { type: "text", text: `${formatFileHeader(name)}${text}` } };
}

/** Whether a file is sent as it is. Which of them a model can use is up to the model: the run reports the others. */
function isMediaFile(type: string): boolean {
  return /^application\/pdf$|^(?:audio|video)\/[\w.+-]+$/.test(type);
}

const formatFileHeader = (name: string) => `[Attached file: ${name.replaceAll(/[\r\n\]]/g, " ")}]\n`;

/** Returns the attached file in a text part, or undefined if the text was typed. */
export function parseAttachedFile(
  text: string,
): { readonly name: string; readonly content: string } | undefined {
  const match = /^\[Attached file: ([^\]\n]+)\]\n/.exec(text);
  return match ? { name: match[1] ?? "", content: text.slice(match[0].length) } : undefined;
}

async function readTextFile(file: File): Promise<string | undefined> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined; // not UTF-8
  }
}

function readBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
