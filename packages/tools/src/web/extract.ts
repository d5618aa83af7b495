import { decodeText } from "./decode-text.ts";
import { extractInWorker } from "./extract-in-worker.ts";
import type { Extracted } from "./extract-task.ts";
import { isHtml } from "./media-types.ts";

/** A document as it came. */
export type Document = {
  readonly bytes: Uint8Array;
  /** "text/html", without parameters. */
  readonly mediaType: string;
  readonly charset?: string;
  readonly url: string;
};

export type ExtractOptions = {
  /** Left out of a page: everything but its readable part. */
  readonly extract: boolean;
  readonly signal: AbortSignal;
};

/** Of what a document says; a log has to bear it. */
const maxCharacters = 1_000_000;

/** What a document says: a page as Markdown, a PDF as its text, every other text as it is. */
export async function extract(document: Document, { extract, signal }: ExtractOptions): Promise<Extracted> {
  const { bytes, mediaType, charset, url } = document;
  if (mediaType === "application/pdf")
    return shortened(await extractInWorker({ type: "pdf", bytes, maxCharacters }, signal));
  const text = decodeText(bytes, { isHtml: isHtml(mediaType), ...(charset !== undefined && { charset }) });
  if (!extract || !isHtml(mediaType) || text.trim() === "") return shortened({ text });
  return shortened(await extractInWorker({ type: "html", html: text, url, maxCharacters }, signal));
}

function shortened({ text, ...rest }: Extracted): Extracted {
  if (text.length <= maxCharacters) return { ...rest, text };
  return { ...rest, text: `${text.slice(0, maxCharacters).toWellFormed()}\n… (the rest is left out)` };
}
