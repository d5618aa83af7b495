import { AgentError } from "capstan";
import type { ParserWorker } from "../../../import/parse-in-worker.ts";
import { readBytes } from "../../../import/read-bytes.ts";
import { checkZip, readZip } from "../../../import/read-zip.ts";
import { type Format, findFormat } from "./formats.ts";
import { parseCsv } from "./parse-csv.ts";
import type { ParsedDocument } from "./parsed-document.ts";

/** For the worker that parses documents. */
export const documentLimits = { timeoutMs: 30_000, memoryMb: 512 };

/** Of one file. */
export const maxDocumentBytes = 50_000_000;
const maxSections = 20_000;

/**
 * Parses a document by the format that its name says. Rejects with `file_invalid` for a file that cannot be read or has no
 * text, with `file_limit` for one that takes too much, and with the reason of the signal.
 */
export async function parseDocument(
  path: string,
  worker: ParserWorker,
  signal?: AbortSignal,
): Promise<ParsedDocument> {
  const format = findFormat(path);
  if (!format) throw new AgentError("file_invalid", "Files of this type are not read.");
  const parsed = await parseFormat(format, path, { worker, signal });
  if (parsed.sections.length === 0)
    throw new AgentError(
      "file_invalid",
      `It contains no text.${format === "pdf" ? " Scanned pages are not read." : ""}`,
    );
  if (parsed.sections.length <= maxSections) return parsed;
  const note = `Only the first ${maxSections} of ${parsed.sections.length} passages were read.`;
  return { ...parsed, sections: parsed.sections.slice(0, maxSections), note };
}

type ParseContext = { readonly worker: ParserWorker; readonly signal: AbortSignal | undefined };

async function parseFormat(
  format: Format,
  path: string,
  { worker, signal }: ParseContext,
): Promise<ParsedDocument> {
  const parse = (input: unknown) =>
    worker.parse<ParsedDocument>(new URL(`${format}.ts`, import.meta.url), input, signal);
  const options = signal && { signal };
  if (format === "csv") return parseCsv(path, signal);
  const bytes = await readBytes(path, { maxBytes: maxDocumentBytes, signal });
  if (format === "epub")
    return parse(await readZip(bytes, { ...options, isWanted: (name) => !isMedia.test(name) }));
  // The parser of Word documents has no limits of its own.
  if (format === "docx") await checkZip(bytes, options);
  return parse(bytes);
}

const isMedia = /\.(?:jpe?g|png|gif|svg|webp|mp[34]|m4a|otf|ttf|woff2?|css|js)$/i;
