import { AgentError } from "capstan";
import type { ParserWorker } from "../../../import/parse-in-worker.ts";
import { readZip } from "../../../import/read-zip.ts";
import { type Format, findFormat } from "./formats.ts";
import { parseCsv } from "./parse-csv.ts";
import type { ParsedDocument } from "./parsed-document.ts";

/** For the worker that parses documents. */
export const documentLimits = { timeoutMs: 30_000, memoryMb: 512 };

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
  switch (format) {
    case "csv":
      return parseCsv(path, signal);
    case "docx":
      // Only checks the archive: the parser has no limits of its own.
      await readZip(path, options);
      return parse(path);
    case "epub":
      return parse(await readZip(path, { ...options, isWanted: (name) => !isMedia.test(name) }));
    case "markdown":
    case "text":
    case "html":
    case "pdf":
    case "mail":
    case "code":
      return parse(path);
  }
}

const isMedia = /\.(?:jpe?g|png|gif|svg|webp|mp[34]|m4a|otf|ttf|woff2?|css|js)$/i;
