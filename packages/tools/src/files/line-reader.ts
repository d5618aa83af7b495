import type { FileHandle } from "node:fs/promises";

/** A line without its end. `more` counts the bytes of a long one that were not kept. */
export type Line = { readonly number: number; readonly text: string; readonly more: number };

/** What a read gives: lines, and at last why there are no more. */
export type LineBatch =
  | { readonly type: "lines"; readonly lines: readonly Line[] }
  /** The last line is among the lines before; `endsOpen` is whether it lacks its line end. */
  | { readonly type: "end"; readonly endsOpen: boolean }
  /** It is no text: there is a zero byte in it. */
  | { readonly type: "binary" }
  /** So many bytes were read and there are more. */
  | { readonly type: "limit" };

/** How far a file is read. */
export type LineReading = {
  readonly signal: AbortSignal;
  /** More is not read, however large the file is or becomes. */
  readonly mostBytes: number;
  /** In bytes; the rest of a line is only counted. */
  readonly longestLine: number;
};

const chunkBytes = 65_536;
const newline = 0x0a;

/** The lines of a file from its beginning, as many at once as a read gives. Memory does not grow with the file. */
export async function* readLines(
  handle: FileHandle,
  { signal, mostBytes, longestLine }: LineReading,
): AsyncGenerator<LineBatch> {
  const buffer = Buffer.alloc(Math.min(chunkBytes, mostBytes));
  const splitter = lineSplitter(longestLine);
  for (let at = 0; at < mostBytes; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, mostBytes - at), at);
    if (bytesRead === 0) {
      const last = splitter.rest();
      if (last) yield { type: "lines", lines: [last] };
      yield { type: "end", endsOpen: last !== undefined };
      return;
    }
    const chunk = buffer.subarray(0, bytesRead);
    if (chunk.includes(0)) {
      yield { type: "binary" };
      return;
    }
    at += bytesRead;
    yield { type: "lines", lines: splitter.split(chunk) };
  }
  yield { type: "limit" };
}

/** Puts lines together that come in pieces. */
function lineSplitter(longestLine: number): { split(chunk: Buffer): Line[]; rest(): Line | undefined } {
  let number = 0;
  let kept: Buffer[] = [];
  let bytes = 0;
  let more = 0;

  function take(piece: Buffer): void {
    // Copied, for the next read writes over the chunk.
    const part = Buffer.from(piece.subarray(0, longestLine - bytes));
    if (part.length > 0) kept.push(part);
    bytes += part.length;
    more += piece.length - part.length;
  }

  function finish(): Line {
    number++;
    const line = { number, text: Buffer.concat(kept).toString("utf8"), more };
    kept = [];
    bytes = 0;
    more = 0;
    return line;
  }

  return {
    split(chunk) {
      const lines: Line[] = [];
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        if (bytes === 0 && end - start <= longestLine)
          lines.push({ number: ++number, text: chunk.toString("utf8", start, end), more: 0 });
        else {
          take(chunk.subarray(start, end));
          lines.push(finish());
        }
        start = end + 1;
      }
      if (start < chunk.length) take(chunk.subarray(start));
      return lines;
    },
    rest: () => (bytes + more > 0 ? finish() : undefined),
  };
}
