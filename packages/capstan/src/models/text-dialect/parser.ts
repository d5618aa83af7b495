// Reads the text dialect while it streams:
//
//   [Thinking: what the model thinks]
//   TOOL_CALL: name
//   ARGUMENTS: {"json": "object"}
//
// A marker counts only at the beginning of a line (up to three spaces before it) and outside a Markdown code fence, so
// a page that quotes the markers stays text. Blank lines around calls and thoughts are layout and are dropped; all
// other text is kept as it is. Every decision depends on the text alone, never on how it was cut into chunks.
import type { Chunk } from "../../model.ts";
import { callMarker, readHead, readUnfinishedHead } from "./call-head.ts";
import { jsonEnd } from "./json-end.ts";

type Mode = "line_start" | "in_line" | "head" | "json" | "json_line" | "thought" | "after_block";

type Reader = {
  readonly offered: ReadonlySet<string>;
  readonly nextIndex: () => number;
  mode: Mode;
  out: Chunk[];
  /** What cannot be judged before more of it is there: the beginning of a line, or of a call. */
  held: string;
  /** Line breaks that are text if text follows, and layout if a call or a thought follows. */
  gap: string;
  /** Blank lines are layout: nothing but them came after the last call or thought. */
  isAfterBlock: boolean;
  /** What opened the code fence around the text. */
  fence: string;
  /** The line so far, where it may open or close a code fence. */
  line: string | undefined;
  /** The arguments stood in a code fence, whose end is awaited. */
  isFenced: boolean;
  index: number;
  jsonEnd: ReturnType<typeof jsonEnd>;
  /** How many brackets of the thought are open. */
  depth: number;
  /** What comes before the next piece of a thought; undefined once it has begun. */
  thoughtPrefix: string | undefined;
  isAfterThought: boolean;
};

/** A streaming parser. `feed` gives what is certain so far; `end` gives the rest. */
export interface DialectParser {
  feed(text: string): readonly Chunk[];
  /** Whatever was begun ends here. A call that was not said to its end has arguments that are no JSON. */
  end(): readonly Chunk[];
}

export type DialectParserOptions = {
  /** Names of the tools the model was told about. */
  readonly offered?: ReadonlySet<string>;
  /** Numbers the calls; by default from 0. */
  readonly nextIndex?: () => number;
};

export function dialectParser(options: DialectParserOptions = {}): DialectParser {
  let calls = 0;
  const { offered = new Set<string>(), nextIndex = () => calls++ } = options;
  const reader: Reader = {
    ...{ offered, nextIndex, mode: "line_start", out: [], held: "", gap: "", isAfterBlock: false },
    ...{ fence: "", line: undefined, isFenced: false, index: 0, jsonEnd: jsonEnd() },
    ...{ depth: 0, thoughtPrefix: undefined, isAfterThought: false },
  };
  const taken = () => {
    const { out } = reader;
    reader.out = [];
    return out;
  };
  return {
    feed(text) {
      read(reader, text);
      return taken();
    },
    end() {
      finish(reader);
      return taken();
    },
  };
}

function read(reader: Reader, text: string): void {
  let rest = reader.held + text;
  reader.held = "";
  while (rest !== "") rest = readers[reader.mode](reader, rest);
}

/** Each consumes some of the text and gives what is left of it; none is left when it needs more to judge. */
const readers: Readonly<Record<Mode, (reader: Reader, text: string) => string>> = {
  line_start: readLineStart,
  in_line: readInLine,
  head: readCallHead,
  json: readJson,
  json_line: readJsonLine,
  thought: readThought,
  after_block: readAfterBlock,
};

const thoughtMarker = "[Thinking:";

function readLineStart(reader: Reader, text: string): string {
  if (reader.isFenced) {
    const closing = /^ {0,3}`{3,20}[ \t\r]{0,64}\n/.exec(text);
    if (closing) {
      reader.isFenced = false;
      return text.slice(closing[0].length);
    }
    if (/^ {0,3}`{0,20}[ \t\r]{0,64}$/.test(text)) return hold(reader, text);
    reader.isFenced = /^ {0,3}\r?\n/.test(text);
  }
  const blank = /^ {0,3}\r?\n/.exec(text)?.[0];
  if (blank !== undefined) {
    if (!reader.isAfterBlock) reader.gap += blank;
    return text.slice(blank.length);
  }
  const body = text.slice(/^ {0,3}/.exec(text)?.[0].length);
  if (body.startsWith(callMarker)) {
    reader.mode = "head";
    return text;
  }
  if (body.startsWith(thoughtMarker)) {
    startThought(reader);
    return body.slice(thoughtMarker.length);
  }
  if (callMarker.startsWith(body) || thoughtMarker.startsWith(body) || body === "\r")
    return hold(reader, text);
  startLine(reader, /^[`~]/.test(body) ? "" : undefined);
  return text;
}

function hold(reader: Reader, text: string): "" {
  reader.held = text;
  return "";
}

/** The line is text, and so are the line breaks before it. */
function startLine(reader: Reader, line: string | undefined): void {
  say(reader, reader.gap);
  reader.gap = "";
  reader.line = line;
  reader.mode = "in_line";
}

function readInLine(reader: Reader, text: string): string {
  const end = text.indexOf("\n");
  const piece = end < 0 ? text : text.slice(0, end);
  say(reader, piece);
  if (reader.line !== undefined) reader.line += piece;
  if (end < 0) return "";
  if (reader.line !== undefined) reader.fence = fenceAfter(reader.fence, reader.line);
  if (reader.fence) {
    say(reader, "\n");
    reader.line = "";
  } else {
    reader.gap = "\n";
    reader.mode = "line_start";
  }
  return text.slice(end + 1);
}

/** The code fence that is open after a line: CommonMark's rules. */
function fenceAfter(open: string, line: string): string {
  const [, fence = "", after = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
  if (!fence) return open;
  if (!open) return fence.startsWith("`") && after.includes("`") ? "" : fence;
  // A closing fence is made of the same characters, at least as many, and nothing else.
  return fence.startsWith(open) && after.trim() === "" ? "" : open;
}

function readCallHead(reader: Reader, text: string): string {
  const head = readHead(text, reader.offered);
  if (head === "unfinished") return hold(reader, text);
  if (head === "text") {
    startLine(reader, undefined);
    return text;
  }
  startCall(reader, head.name);
  reader.mode = head.isJson ? "json" : "json_line";
  reader.isFenced = head.isFenced;
  return text.slice(head.valueAt);
}

function startCall(reader: Reader, name: string): void {
  reader.gap = "";
  reader.isAfterBlock = true;
  reader.isAfterThought = false;
  reader.index = reader.nextIndex();
  reader.jsonEnd = jsonEnd();
  reader.out.push({ type: "call_start", index: reader.index, name });
}

function readJson(reader: Reader, text: string): string {
  const end = reader.jsonEnd(text);
  const piece = end < 0 ? text : text.slice(0, end);
  reader.out.push({ type: "call_delta", index: reader.index, text: piece });
  if (end >= 0) reader.mode = "after_block";
  return text.slice(piece.length);
}

/** Arguments that are not JSON: the line is kept, to be refused. */
function readJsonLine(reader: Reader, text: string): string {
  const end = text.indexOf("\n");
  const piece = end < 0 ? text : text.slice(0, end);
  if (piece) reader.out.push({ type: "call_delta", index: reader.index, text: piece });
  if (end < 0) return "";
  reader.mode = "after_block";
  return text.slice(end);
}

function startThought(reader: Reader): void {
  reader.gap = "";
  reader.isAfterBlock = true;
  reader.depth = 1;
  reader.thoughtPrefix = reader.isAfterThought ? "\n\n" : "";
  reader.mode = "thought";
}

function readThought(reader: Reader, text: string): string {
  const brackets = /[[\]]/g;
  let end = text.length;
  for (let found = brackets.exec(text); found && reader.depth > 0; found = brackets.exec(text)) {
    reader.depth += found[0] === "[" ? 1 : -1;
    end = reader.depth > 0 ? text.length : found.index;
  }
  think(reader, text.slice(0, end));
  if (reader.depth > 0) return "";
  reader.mode = "after_block";
  return text.slice(end + 1);
}

function think(reader: Reader, said: string): void {
  const { thoughtPrefix } = reader;
  const text = thoughtPrefix === undefined ? said : said.trimStart();
  if (!text) return;
  reader.out.push({ type: "reasoning", text: `${thoughtPrefix ?? ""}${text}` });
  reader.thoughtPrefix = undefined;
  reader.isAfterThought = true;
}

function readAfterBlock(reader: Reader, text: string): string {
  const rest = text.slice(/^[ \t\r]*/.exec(text)?.[0].length);
  if (rest.startsWith("\n")) {
    reader.mode = "line_start";
    return rest.slice(1);
  }
  if (rest.startsWith("`") && reader.isFenced) reader.mode = "line_start";
  else if (rest !== "") startLine(reader, undefined);
  return rest;
}

function say(reader: Reader, text: string): void {
  if (!text) return;
  reader.isAfterBlock = false;
  reader.isAfterThought = false;
  reader.isFenced = false;
  const last = reader.out.at(-1);
  if (last?.type === "text") reader.out[reader.out.length - 1] = { type: "text", text: last.text + text };
  else reader.out.push({ type: "text", text });
}

function finish(reader: Reader): void {
  const { held, isAfterBlock, isFenced } = reader;
  reader.held = "";
  if (reader.mode === "head") {
    const unfinished = readUnfinishedHead(held, reader.offered);
    if (!unfinished) {
      startLine(reader, undefined);
      read(reader, held);
      finish(reader);
      return;
    }
    startCall(reader, unfinished.name);
    reader.out.push({ type: "call_delta", index: reader.index, text: unfinished.said });
  } else if (!(isFenced && /^ {0,3}`{3,}\s*$/.test(held)) && !(isAfterBlock && held.trim() === "")) {
    say(reader, reader.gap + held);
  }
  reader.gap = "";
  reader.fence = "";
  reader.mode = "line_start";
}
