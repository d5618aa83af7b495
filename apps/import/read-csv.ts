import { Readable } from "node:stream";
import { AgentError } from "capstan";
import { CsvError, parse } from "csv-parse";
import { detectEncoding, encodingSampleSize } from "./detect-encoding.ts";
import { openFile } from "./read-bytes.ts";

export type CsvLimits = {
  readonly rows: number;
  readonly bytes: number;
  /** Length of one row, in characters. */
  readonly rowLength: number;
  readonly columns: number;
};

export type ReadCsvOptions = {
  readonly limits?: Partial<CsvLimits>;
  readonly signal?: AbortSignal;
};

/** The values of a row by column, all of them text. */
export type CsvRow = ReadonlyMap<string, string>;

export const defaultCsvLimits: CsvLimits = {
  rows: 200_000,
  bytes: 100_000_000,
  rowLength: 1_000_000,
  columns: 1000,
};

/**
 * Streams the rows of a CSV file or of its bytes. The first row names the columns; the delimiter (comma, semicolon, tab or
 * bar) and the encoding are detected. Throws `file_limit` at the row that exceeds a limit, so that a caller can keep the
 * rows before it, and `file_invalid` for text that is not CSV.
 */
export async function* readCsv(
  source: string | AsyncIterable<Uint8Array>,
  { limits: chosen, signal }: ReadCsvOptions = {},
): AsyncGenerator<CsvRow> {
  const limits = { ...defaultCsvLimits, ...chosen };
  const name = typeof source === "string" ? `"${source}"` : "The CSV text";
  const bytes = limitBytes(typeof source === "string" ? readFile(source, limits) : source, name, limits);
  const { sample, rest } = await splitSample(bytes);
  const encoding = detectEncoding(sample);
  const text = Readable.from(decode(rest, new TextDecoder(encoding)));
  const parser = text.pipe(
    parse({
      delimiter: detectDelimiter(new TextDecoder(encoding).decode(sample)),
      max_record_size: limits.rowLength,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    }),
  );
  text.on("error", (error) => parser.destroy(error));
  try {
    yield* toRows(parser, name, { limits, signal });
  } catch (error) {
    throw error instanceof CsvError ? toAgentError(error, name, limits) : error;
  } finally {
    text.destroy();
    await bytes.return(undefined);
  }
}

async function* readFile(path: string, limits: CsvLimits): AsyncGenerator<Uint8Array> {
  const file = await openFile(path);
  try {
    if ((await file.stat()).size > limits.bytes) throw createSizeError(`"${path}"`, limits);
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}

type RowOptions = { readonly limits: CsvLimits; readonly signal: AbortSignal | undefined };

async function* toRows(
  records: AsyncIterable<readonly string[]>,
  name: string,
  { limits, signal }: RowOptions,
): AsyncGenerator<CsvRow> {
  let columns: readonly string[] | undefined;
  let rows = 0;
  for await (const record of records) {
    signal?.throwIfAborted();
    if (record.length > limits.columns)
      throw new AgentError("file_limit", `${name} has more than ${limits.columns} columns.`);
    if (!columns) {
      columns = nameColumns(record);
      continue;
    }
    if (++rows > limits.rows)
      throw new AgentError("file_limit", `${name} has more than ${limits.rows} rows.`);
    yield new Map(columns.map((column, index) => [column, record[index] ?? ""]));
  }
}

/** Gives columns without a name, and those with the name of another, a number. */
function nameColumns(header: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const [index, text] of header.entries()) {
    const name = text.trim() || `column ${index + 1}`;
    names.push(names.includes(name) ? `${name} ${index + 1}` : name);
  }
  return names;
}

/** Chooses the character that is most frequent in the first line, outside of quotes. Commas are also punctuation. */
function detectDelimiter(sample: string): string {
  const [line = ""] = sample.replaceAll(/"[^"]*"?/g, "").split(/\r?\n|\r/, 1);
  const counts = ["\t", ";", "|", ","].map((delimiter) => ({
    delimiter,
    count: line.split(delimiter).length,
  }));
  return counts.toSorted((left, right) => right.count - left.count)[0]?.delimiter ?? ",";
}

async function* limitBytes(
  source: AsyncIterable<Uint8Array>,
  name: string,
  limits: CsvLimits,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > limits.bytes) throw createSizeError(name, limits);
    yield chunk;
  }
}

/** Reads the beginning of a stream, and returns it with a stream that still contains it. */
async function splitSample(
  source: AsyncGenerator<Uint8Array>,
): Promise<{ readonly sample: Uint8Array; readonly rest: AsyncIterable<Uint8Array> }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < encodingSampleSize) {
    const { value, done } = await source.next();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  async function* joinRest(): AsyncGenerator<Uint8Array> {
    yield* chunks;
    yield* source;
  }
  return { sample: Buffer.concat(chunks), rest: joinRest() };
}

async function* decode(source: AsyncIterable<Uint8Array>, decoder: TextDecoder): AsyncGenerator<string> {
  for await (const chunk of source) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

const createSizeError = (name: string, { bytes }: CsvLimits): AgentError =>
  new AgentError("file_limit", `${name} is larger than ${bytes} bytes.`);

function toAgentError(error: CsvError, name: string, { rowLength }: CsvLimits): AgentError {
  return error.code === "CSV_MAX_RECORD_SIZE"
    ? new AgentError("file_limit", `${name} has a row of more than ${rowLength} characters.`)
    : new AgentError("file_invalid", `${name} is not a readable CSV file: ${error.message}`, {
        cause: error,
      });
}
