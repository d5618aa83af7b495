import type { FileHandle } from "node:fs/promises";

/** A line without its line ending. `omittedBytes` counts the bytes dropped from a long line. */
export type Line = { readonly number: number; readonly text: string; readonly omittedBytes: number };

/** Lines, and finally the reason why there are no more. */
export type LineBatch =
  | { readonly type: "lines"; readonly lines: readonly Line[] }
  /** `endsOpen`: the last line has no line ending. */
  | { readonly type: "end"; readonly endsOpen: boolean }
  /** The file contains a zero byte. */
  | { readonly type: "binary" }
  /** `maxBytes` were read and the file continues. */
  | { readonly type: "limit" };

export type ReadLinesOptions = {
  readonly signal: AbortSignal;
  /** Stop reading here, even if the file is larger or grows. */
  readonly maxBytes: number;
  /** Longer lines are truncated; the rest is counted only. */
  readonly maxLineBytes: number;
};

const chunkBytes = 65_536;
const newline = 0x0a;

/** Reads lines in batches from the start of a file, with constant memory. */
export async function* readLines(
  handle: FileHandle,
  { signal, maxBytes, maxLineBytes }: ReadLinesOptions,
): AsyncGenerator<LineBatch> {
  const buffer = Buffer.alloc(Math.min(chunkBytes, maxBytes));
  const splitter = createLineSplitter(maxLineBytes);
  for (let at = 0; at < maxBytes; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, maxBytes - at), at);
    if (bytesRead === 0) {
      const last = splitter.flush();
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

/** Joins lines that span several chunks. */
function createLineSplitter(maxLineBytes: number): {
  split(chunk: Buffer): Line[];
  flush(): Line | undefined;
} {
  let number = 0;
  let kept: Buffer[] = [];
  let bytes = 0;
  let omittedBytes = 0;

  function append(piece: Buffer): void {
    // Copied, because the next read overwrites the chunk.
    const part = Buffer.from(piece.subarray(0, maxLineBytes - bytes));
    if (part.length > 0) kept.push(part);
    bytes += part.length;
    omittedBytes += piece.length - part.length;
  }

  function finishLine(): Line {
    number++;
    const line = { number, text: Buffer.concat(kept).toString("utf8"), omittedBytes };
    kept = [];
    bytes = 0;
    omittedBytes = 0;
    return line;
  }

  return {
    split(chunk) {
      const lines: Line[] = [];
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        if (bytes === 0 && end - start <= maxLineBytes)
          lines.push({ number: ++number, text: chunk.toString("utf8", start, end), omittedBytes: 0 });
        else {
          append(chunk.subarray(start, end));
          lines.push(finishLine());
        }
        start = end + 1;
      }
      if (start < chunk.length) append(chunk.subarray(start));
      return lines;
    },
    flush: () => (bytes + omittedBytes > 0 ? finishLine() : undefined),
  };
}
