import { decodeText } from "./decode-text.ts";
import { extractInWorker } from "./extract-in-worker.ts";
import type { Extracted } from "./extract-task.ts";
import { isHtml } from "./media-types.ts";

/** A fetched document. */
export type Document = {
  readonly bytes: Uint8Array;
  /** Without parameters, such as "text/html". */
  readonly mediaType: string;
  readonly charset?: string;
  readonly url: string;
};

export type ExtractOptions = {
  /** For web pages: extract the readable part instead of returning the source. */
  readonly extract: boolean;
  readonly signal: AbortSignal;
};

/** Limits the size of the session log. */
const maxCharacters = 1_000_000;

/** Converts a document to text: a page to Markdown, a PDF to its text. Other text is returned as is. */
export async function extract(document: Document, { extract, signal }: ExtractOptions): Promise<Extracted> {
  const { bytes, mediaType, charset, url } = document;
  if (mediaType === "application/pdf")
    return truncateText(await extractInWorker({ type: "pdf", bytes, maxCharacters }, signal));
  const text = decodeText(bytes, { isHtml: isHtml(mediaType), ...(charset !== undefined && { charset }) });
  if (!extract || !isHtml(mediaType) || text.trim() === "") return truncateText({ text });
  return truncateText(await extractInWorker({ type: "html", html: text, url, maxCharacters }, signal));
}

function truncateText({ text, ...rest }: Extracted): Extracted {
  if (text.length <= maxCharacters) return { ...rest, text };
  return { ...rest, text: `${text.slice(0, maxCharacters).toWellFormed()}\n… (truncated)` };
}
