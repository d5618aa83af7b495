import type { FileHandle } from "node:fs/promises";
import { defineTool, type Tool } from "capstan";
import { inDirectory } from "./directory.ts";
import { badArguments, quoted } from "./file-failure.ts";
import { readLines } from "./line-reader.ts";
import { openFile } from "./open-file.ts";
import { attempt, type FileLimits, resultSize, type Workspace, wayTo } from "./workspace.ts";

/** `read_file`: lines of a text file. */
export function readFileTool({ root, limits, reads }: Workspace): Tool {
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
        lines: { type: "integer", minimum: 1, description: `How many lines, at most ${limits.lines}.` },
      },
      required: ["path"],
      additionalProperties: false,
    },
    effects: "none",
    reads,
    maxResultSize: resultSize(limits),
    execute({ path, from = 1, lines = limits.lines }, { signal }) {
      const { folder, name } = wayTo(path, root);
      return attempt(`read ${quoted(path)}`, () =>
        inDirectory(root, folder, async (directory) => {
          const { handle, stats } = await openFile(directory, name);
          try {
            const range = await readRange(handle, {
              from,
              lines: Math.min(lines, limits.lines),
              limits,
              signal,
            });
            return inWords(range, path, stats.size);
          } finally {
            await handle.close();
          }
        }),
      );
    },
  });
}

type Asked = {
  readonly from: number;
  readonly lines: number;
  readonly limits: FileLimits;
  readonly signal: AbortSignal;
};

type Range = {
  readonly from: number;
  readonly lines: readonly string[];
  /** Why there are no more lines than these. */
  readonly stop: "more" | "end" | "binary" | "limit";
  readonly endsOpen: boolean;
  /** Of the whole file, as far as it was read. */
  readonly lastLine: number;
};

/** Reads from the beginning, for lines are counted, and only as far as the range goes. */
async function readRange(handle: FileHandle, { from, lines, limits, signal }: Asked): Promise<Range> {
  const kept: string[] = [];
  let characters = 0;
  let lastLine = 0;
  const range = (stop: Range["stop"], endsOpen = true): Range => ({
    from,
    lines: kept,
    stop,
    endsOpen,
    lastLine,
  });
  const reading = { signal, mostBytes: limits.scanBytes, longestLine: limits.characters };
  for await (const batch of readLines(handle, reading)) {
    if (batch.type === "end") return range("end", batch.endsOpen);
    if (batch.type !== "lines") return range(batch.type);
    for (const { number, text, more } of batch.lines) {
      lastLine = number;
      if (number < from) continue;
      characters += text.length + 1;
      const isFull = kept.length === lines || (kept.length > 0 && characters > limits.characters);
      if (isFull) return range("more");
      kept.push(more > 0 ? `${text}… [${more} more bytes in this line]` : text);
    }
  }
  return range("limit");
}

function inWords({ from, lines, stop, endsOpen, lastLine }: Range, path: string, size: bigint): string {
  const text = lines.join("\n");
  if (stop === "binary" || isGarbled(text))
    return `[${quoted(path)} is not a text file: ${size} bytes, which are not shown.]`;
  if (lines.length === 0) return withoutLines({ from, stop, lastLine }, path);
  const whole = endsOpen ? text : `${text}\n`;
  const to = from + lines.length - 1;
  if (stop === "end") return from === 1 ? whole : `${text}\n\n[Lines ${from} to ${to}, the last one.]`;
  const next =
    stop === "more"
      ? `There are more: go on with from: ${to + 1}.`
      : `The file goes on, but not more than its first ${lastLine} lines can be read.`;
  return `${text}\n\n[Lines ${from} to ${to}. ${next}]`;
}

function withoutLines(
  { from, stop, lastLine }: Pick<Range, "from" | "stop" | "lastLine">,
  path: string,
): string {
  if (stop === "end" && lastLine === 0) return `[${quoted(path)} is empty.]`;
  if (stop === "end")
    throw badArguments(`${quoted(path)} has only ${lastLine} lines: take a \`from\` up to that.`);
  throw badArguments(
    `Line ${from} of ${quoted(path)} lies too far in: only its first ${lastLine} lines can be read.`,
  );
}

/** Text in another encoding, or none: much of it is no UTF-8. */
function isGarbled(text: string): boolean {
  return (text.match(/\uFFFD/g)?.length ?? 0) > text.length / 10;
}
