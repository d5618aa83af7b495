export type DiffLine = {
  readonly type: "same" | "added" | "removed" | "note";
  readonly text: string;
  /** Line numbers from 1. Undefined if the hunk starts at line 0, which means an unknown position. */
  readonly before?: number;
  readonly after?: number;
};

export type DiffHunk = {
  readonly head: string;
  readonly lines: readonly DiffLine[];
  /** The file that begins with this hunk, if the diff names one: `old → new` for a renamed file. */
  readonly file?: string;
};

export type ParsedDiff = {
  readonly hunks: readonly DiffHunk[];
  readonly added: number;
  readonly removed: number;
  /** The files that the diff names, in order. */
  readonly files: readonly string[];
};

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;
const fileHeader =
  /^(?:diff |index |--- |\+\+\+ |new file|deleted file|similarity|rename |old mode|new mode)/;

/** The headers of the file that follows. */
type FileHeaders = { from?: string; to?: string };

/** Reads `--- a/old`, `+++ b/new`, `rename from old` and `rename to new`. */
function readFileHeader(line: string, headers: FileHeaders): void {
  const [, side = "", path = ""] = /^(---|\+\+\+|rename from|rename to) (.+?)(?:\t.*)?$/.exec(line) ?? [];
  if (side === "---" || side === "rename from")
    headers.from = side === "---" ? removePrefix(path, "a/") : path;
  if (side === "+++" || side === "rename to") headers.to = side === "+++" ? removePrefix(path, "b/") : path;
}

const removePrefix = (path: string, prefix: string): string =>
  path.startsWith(prefix) ? path.slice(prefix.length) : path;

function formatFile({ from, to }: FileHeaders): string | undefined {
  if (from === undefined || to === undefined) return from ?? to;
  if (from === "/dev/null") return `${to} (new)`;
  if (to === "/dev/null") return `${from} (deleted)`;
  return from === to ? to : `${from} → ${to}`;
}

/** Parses the unified format. Lines outside of hunks, such as "Binary file …", become notes. */
export function parseDiff(text: string): ParsedDiff {
  const hunks: { head: string; lines: DiffLine[]; file?: string }[] = [];
  let headers: FileHeaders = {};
  const takeFile = (): { file?: string } => {
    const file = formatFile(headers);
    headers = {};
    return file === undefined ? {} : { file };
  };
  // Current lines and remaining counts of the hunk: "--- a" after its end is not a removed line.
  let [before, after, beforeLeft, afterLeft] = [0, 0, 0, 0];
  let isNumbered = true;
  for (const line of text.replace(/\r?\n$/, "").split("\n")) {
    const lines = hunks.at(-1)?.lines;
    const isInside = lines !== undefined && (beforeLeft > 0 || afterLeft > 0);
    const head = isInside ? undefined : hunkHeader.exec(line);
    if (head) {
      [before, after] = [Number(head[1]), Number(head[3])];
      [beforeLeft, afterLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      isNumbered = !(before === 0 && beforeLeft > 0) && !(after === 0 && afterLeft > 0);
      hunks.push({ head: (head[5] ?? "").trim(), lines: [], ...takeFile() });
    } else if (line.startsWith("\\ ")) {
      lines?.push({ type: "note", text: line.slice(2) });
    } else if (!isInside) {
      // A file that was only renamed has no hunk.
      if (line.startsWith("diff ") && headers.to !== undefined)
        hunks.push({ head: "", lines: [], ...takeFile() });
      readFileHeader(line, headers);
      if (line !== "" && !fileHeader.test(line))
        hunks.push({ head: "", lines: [{ type: "note", text: line }], ...takeFile() });
    } else if (line.startsWith("+")) {
      lines.push({ type: "added", text: line.slice(1), ...(isNumbered && { after: after++ }) });
      afterLeft -= 1;
    } else if (line.startsWith("-")) {
      lines.push({ type: "removed", text: line.slice(1), ...(isNumbered && { before: before++ }) });
      beforeLeft -= 1;
    } else {
      const numbers = isNumbered && { before: before++, after: after++ };
      lines.push({ type: "same", text: line.slice(1), ...numbers });
      beforeLeft -= 1;
      afterLeft -= 1;
    }
  }
  if (headers.to !== undefined) hunks.push({ head: "", lines: [], ...takeFile() });
  const countLines = (type: DiffLine["type"]): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.type === type).length, 0);
  const files = hunks.flatMap(({ file }) => file ?? []);
  return { hunks, added: countLines("added"), removed: countLines("removed"), files };
}

export type DiffPair = { readonly left?: DiffLine; readonly right?: DiffLine };

/** Pairs removed lines with the added lines that replace them. */
export function pairLines(lines: readonly DiffLine[]): readonly DiffPair[] {
  const pairs: DiffPair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const left = removed[index];
      const right = added[index];
      pairs.push({ ...(left && { left }), ...(right && { right }) });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.type === "removed") {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.type === "added") {
      added.push(line);
    } else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}
