import type { FileHandle } from "node:fs/promises";
import { defineTool, type Tool, type ToolCall } from "capstan";
import { withDirectory } from "./directory.ts";
import { isExternal, labelResult } from "./external-files.ts";
import { createArgumentError, quotePath } from "./file-errors.ts";
import { openFile } from "./open-file.ts";
import { readLines } from "./read-lines.ts";
import {
  type FileLimits,
  getMaxResultSize,
  parseFilePath,
  type Workspace,
  withFileErrors,
} from "./workspace.ts";

/** `read_file`: reads lines of a text file. */
export type ReadFileCall = ToolCall<
  "read_file",
  { path: string; from?: number; to?: number; lines?: number }
>;

export function readFileTool({ root, limits, reads, seen }: Workspace): Tool<ReadFileCall, unknown> {
  return defineTool({
    name: "read_file",
    description:
      "Reads a text file, or some of its lines. Long files come in parts; the result says how to go on. Binary files are not shown.",
    examples: [
      { phrase: "what's in {path}" },
      { phrase: "read {path}" },
      { phrase: "show me {path}" },
      { phrase: "open {path}" },
      { phrase: "what does {path} say" },
      { phrase: "what does the file {path} contain" },
      { phrase: "show the first {lines} lines of {path}" },
      { phrase: "what is on line {from} of {path}", input: { lines: 1 } },
      { phrase: "read {path} from line {from}" },
    ],
    input: {
      type: "object",
      properties: {
        path: { type: "string", description: "Relative to the root, with slashes." },
        from: { type: "integer", minimum: 1, description: "The first line to read, counted from 1." },
        to: { type: "integer", minimum: 1, description: "The last line to read." },
        lines: { type: "integer", minimum: 1, description: `How many lines, at most ${limits.lines}.` },
      },
      required: ["path"],
      additionalProperties: false,
    },
    effects: "none",
    reads,
    maxResultSize: getMaxResultSize(limits),
    execute(
      { path, from = 1, to, lines = to === undefined ? limits.lines : Math.max(1, to - from + 1) },
      { signal, sessionId },
    ) {
      const { folder, name } = parseFilePath(path, root);
      return withFileErrors(`read ${quotePath(path)}`, () =>
        withDirectory(root, folder, async (directory) => {
          const { handle, stats } = await openFile(directory, name);
          try {
            seen.recordRead(sessionId, [...folder, name].join("/"), stats);
            const range = await readRange(handle, {
              from,
              lines: Math.min(lines, limits.lines),
              limits,
              signal,
            });
            return labelResult(formatRange(range, path, stats.size), await isExternal(directory, name));
          } finally {
            await handle.close();
          }
        }),
      );
    },
  });
}

type RangeRequest = {
  readonly from: number;
  readonly lines: number;
  readonly limits: FileLimits;
  readonly signal: AbortSignal;
};

type LineRange = {
  readonly from: number;
  readonly lines: readonly string[];
  /** Why the range ends here. */
  readonly stop: "more" | "end" | "binary" | "limit";
  readonly endsOpen: boolean;
  /** Number of the last line that was read. */
  readonly lastLine: number;
};

/** Reads from the start of the file, to count lines, up to the end of the range. */
async function readRange(
  handle: FileHandle,
  { from, lines, limits, signal }: RangeRequest,
): Promise<LineRange> {
  const kept: string[] = [];
  let characters = 0;
  let lastLine = 0;
  const createRange = (stop: LineRange["stop"], endsOpen = true): LineRange => ({
    from,
    lines: kept,
    stop,
    endsOpen,
    lastLine,
  });
  const reading = { signal, maxBytes: limits.scanBytes, maxLineBytes: limits.characters };
  for await (const batch of readLines(handle, reading)) {
    if (batch.type === "end") return createRange("end", batch.endsOpen);
    if (batch.type !== "lines") return createRange(batch.type);
    for (const { number, text, omittedBytes } of batch.lines) {
      lastLine = number;
      if (number < from) continue;
      characters += text.length + 1;
      const isFull = kept.length === lines || (kept.length > 0 && characters > limits.characters);
      if (isFull) return createRange("more");
      kept.push(omittedBytes > 0 ? `${text}… [${omittedBytes} more bytes in this line]` : text);
    }
  }
  return createRange("limit");
}

function formatRange(
  { from, lines, stop, endsOpen, lastLine }: LineRange,
  path: string,
  size: bigint,
): string {
  const text = lines.join("\n");
  if (stop === "binary" || looksBinary(text))
    return `[${quotePath(path)} is not a text file (${size} bytes, not shown).]`;
  if (lines.length === 0) return formatEmptyRange({ from, stop, lastLine }, path);
  const whole = endsOpen ? text : `${text}\n`;
  const to = from + lines.length - 1;
  if (stop === "end") return from === 1 ? whole : `${text}\n\n[Lines ${from} to ${to}, end of file.]`;
  const next =
    stop === "more"
      ? `More lines follow: continue with from: ${to + 1}.`
      : `The file continues, but only its first ${lastLine} lines can be read.`;
  return `${text}\n\n[Lines ${from} to ${to}. ${next}]`;
}

function formatEmptyRange(
  { from, stop, lastLine }: Pick<LineRange, "from" | "stop" | "lastLine">,
  path: string,
): string {
  if (stop === "end" && lastLine === 0) return `[${quotePath(path)} is empty.]`;
  if (stop === "end")
    throw createArgumentError(`${quotePath(path)} has only ${lastLine} lines: use a smaller \`from\`.`);
  throw createArgumentError(
    `Line ${from} of ${quotePath(path)} is out of reach: only its first ${lastLine} lines can be read.`,
  );
}

/** Whether much of the text is not valid UTF-8, as with binary data or another encoding. */
function looksBinary(text: string): boolean {
  return (text.match(/\uFFFD/g)?.length ?? 0) > text.length / 10;
}
