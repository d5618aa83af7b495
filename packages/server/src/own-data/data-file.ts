import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { AgentError } from "capstan";

/**
 * Finds a file of own data. `path` is relative to a root, or starts with the name of one. Rejects with `not_found`,
 * also for a link that leads out of its root.
 */
export async function findDataFile(roots: readonly string[], path: string): Promise<string> {
  for (const root of roots)
    for (const candidate of listCandidates(root, path)) {
      const file = await resolveInside(root, candidate);
      if (file !== undefined) return file;
    }
  throw new AgentError("not_found", `File not found in this data: ${JSON.stringify(path.slice(0, 200))}.`);
}

function listCandidates(root: string, path: string): readonly string[] {
  const name = basename(root);
  if (path === name) return [root, join(root, path)];
  return [
    join(root, path),
    ...(path.startsWith(`${name}/`) ? [join(root, path.slice(name.length + 1))] : []),
  ];
}

/** Returns the real path of a regular file in the root, undefined for anything else. */
async function resolveInside(root: string, candidate: string): Promise<string | undefined> {
  try {
    const [from, to] = await Promise.all([realpath(root), realpath(candidate)]);
    const way = relative(from, to);
    const isInside = way === "" || !(way === ".." || way.startsWith(`..${sep}`));
    return isInside && (await stat(to)).isFile() ? to : undefined;
  } catch {
    return undefined; // missing, not readable, or not a valid path
  }
}

/** Types that a browser shows without running anything. HTML and SVG are shown as text. */
const inlineTypes: Readonly<Record<string, string>> = {
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/** Types that are saved, because they are not text. */
const savedExtensions: readonly string[] = [
  ...[
    ".docx",
    ".doc",
    ".odt",
    ".xlsx",
    ".xls",
    ".pptx",
    ".epub",
    ".zip",
    ".gz",
    ".tgz",
    ".7z",
    ".sqlite",
    ".db",
  ],
];

// A sandboxed page cannot use the PDF viewer of Chrome, which is isolated from the page's origin.
const pdfPolicy = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'";
const filePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'";

/** Responds with a file in a way that nothing in it is executed. */
export function respondWithFile(file: string): Response {
  const extension = extname(file).toLowerCase();
  const isSaved = savedExtensions.includes(extension);
  const type = isSaved ? "application/octet-stream" : (inlineTypes[extension] ?? "text/plain; charset=utf-8");
  const name = encodeURIComponent(basename(file)).replaceAll(/['()*]/g, escapeCharacter);
  return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>, {
    headers: {
      "content-type": type,
      "content-disposition": `${isSaved ? "attachment" : "inline"}; filename*=UTF-8''${name}`,
      "content-security-policy": extension === ".pdf" ? pdfPolicy : filePolicy,
      "cache-control": "private, no-cache",
    },
  });
}

const escapeCharacter = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
