// Parses the text dialect while it streams:
//
//   [Thinking: reasoning of the model]
//   TOOL_CALL: name
//   ARGUMENTS: {"json": "object"}
//
// A marker counts only at the start of a line (after up to three spaces) and outside a Markdown code fence, so quoted
// markers stay text. Blank lines around calls and thoughts are layout and are dropped; all other text is unchanged.
// Every decision depends on the text alone, never on how it is split into chunks.
import type { Chunk } from "../../kernel/model.ts";
import { callMarker, readHead, readUnfinishedHead } from "./call-head.ts";
import { createJsonScanner } from "./json-end.ts";

type Mode = "line_start" | "in_line" | "head" | "json" | "json_line" | "thought" | "after_block";

type ParserState = {
  readonly offered: ReadonlySet<string>;
  readonly nextIndex: () => number;
  mode: Mode;
  out: Chunk[];
  /** Text that needs more input to be classified: the start of a line or of a call. */
  held: string;
  /** Line breaks that are text if text follows, and layout if a call or thought follows. */
  gap: string;
  /** True while only blank lines, which are layout, followed the last call or thought. */
  isAfterBlock: boolean;
  /** Opening marker of the enclosing code fence, or empty. */
  fence: string;
  /** The current line, if it may open or close a code fence. */
  line: string | undefined;
  /** The arguments are in a code fence that is not closed yet. */
  isFenced: boolean;
  index: number;
  jsonEnd: ReturnType<typeof createJsonScanner>;
  /** Open brackets of the current thought. */
  depth: number;
  /** Separator before the first text of a thought; undefined once it started. */
  thoughtPrefix: string | undefined;
  isAfterThought: boolean;
};

/** A streaming parser. `feed` returns the chunks that are certain so far; `end` returns the rest. */
export interface DialectParser {
  feed(text: string): readonly Chunk[];
  /** Closes open blocks. A truncated call gets arguments that are not valid JSON. */
  end(): readonly Chunk[];
}

export type DialectParserOptions = {
  /** Names of the tools offered to the model. */
  readonly offered?: ReadonlySet<string>;
  /** Numbers the calls. Default: counts from 0. */
  readonly nextIndex?: () => number;
};

export function createDialectParser(options: DialectParserOptions = {}): DialectParser {
  let calls = 0;
  const { offered = new Set<string>(), nextIndex = () => calls++ } = options;
  const state: ParserState = {
    ...{ offered, nextIndex, mode: "line_start", out: [], held: "", gap: "", isAfterBlock: false },
    ...{ fence: "", line: undefined, isFenced: false, index: 0, jsonEnd: createJsonScanner() },
    ...{ depth: 0, thoughtPrefix: undefined, isAfterThought: false },
  };
  const takeOutput = () => {
    const { out } = state;
    state.out = [];
    return out;
  };
  return {
    feed(text) {
      consumeText(state, text);
      return takeOutput();
    },
    end() {
      finishParsing(state);
      return takeOutput();
    },
  };
}

function consumeText(state: ParserState, text: string): void {
  let rest = state.held + text;
  state.held = "";
  while (rest !== "") rest = handlers[state.mode](state, rest);
}

/** Each handler consumes a prefix of the text and returns the rest; an empty rest means it needs more input. */
const handlers: Readonly<Record<Mode, (state: ParserState, text: string) => string>> = {
  line_start: readLineStart,
  in_line: readInLine,
  head: readCallHead,
  json: readJson,
  json_line: readJsonLine,
  thought: readThought,
  after_block: readAfterBlock,
};

const thoughtMarker = "[Thinking:";

function readLineStart(state: ParserState, text: string): string {
  if (state.isFenced) {
    const closing = /^ {0,3}`{3,20}[ \t\r]{0,64}\n/.exec(text);
    if (closing) {
      state.isFenced = false;
      return text.slice(closing[0].length);
    }
    if (/^ {0,3}`{0,20}[ \t\r]{0,64}$/.test(text)) return holdBack(state, text);
    state.isFenced = /^ {0,3}\r?\n/.test(text);
  }
  const blank = /^ {0,3}\r?\n/.exec(text)?.[0];
  if (blank !== undefined) {
    if (!state.isAfterBlock) state.gap += blank;
    return text.slice(blank.length);
  }
  const body = text.slice(/^ {0,3}/.exec(text)?.[0].length);
  if (body.startsWith(callMarker)) {
    state.mode = "head";
    return text;
  }
  if (body.startsWith(thoughtMarker)) {
    startThought(state);
    return body.slice(thoughtMarker.length);
  }
  if (callMarker.startsWith(body) || thoughtMarker.startsWith(body) || body === "\r")
    return holdBack(state, text);
  startLine(state, /^[`~]/.test(body) ? "" : undefined);
  return text;
}

function holdBack(state: ParserState, text: string): "" {
  state.held = text;
  return "";
}

/** Starts a line of text; the line breaks before it are text too. */
function startLine(state: ParserState, line: string | undefined): void {
  emitText(state, state.gap);
  state.gap = "";
  state.line = line;
  state.mode = "in_line";
}

function readInLine(state: ParserState, text: string): string {
  const end = text.indexOf("\n");
  const piece = end < 0 ? text : text.slice(0, end);
  emitText(state, piece);
  if (state.line !== undefined) state.line += piece;
  if (end < 0) return "";
  if (state.line !== undefined) state.fence = updateFence(state.fence, state.line);
  if (state.fence) {
    emitText(state, "\n");
    state.line = "";
  } else {
    state.gap = "\n";
    state.mode = "line_start";
  }
  return text.slice(end + 1);
}

/** Returns the code fence that is open after a line, by CommonMark's rules. */
function updateFence(open: string, line: string): string {
  const [, fence = "", after = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
  if (!fence) return open;
  if (!open) return fence.startsWith("`") && after.includes("`") ? "" : fence;
  // A closing fence has at least as many of the same characters and nothing else.
  return fence.startsWith(open) && after.trim() === "" ? "" : open;
}

function readCallHead(state: ParserState, text: string): string {
  const head = readHead(text, state.offered);
  if (head === "unfinished") return holdBack(state, text);
  if (head === "text") {
    startLine(state, undefined);
    return text;
  }
  startDialectCall(state, head.name);
  state.mode = head.isJson ? "json" : "json_line";
  state.isFenced = head.isFenced;
  return text.slice(head.valueAt);
}

function startDialectCall(state: ParserState, name: string): void {
  state.gap = "";
  state.isAfterBlock = true;
  state.isAfterThought = false;
  state.index = state.nextIndex();
  state.jsonEnd = createJsonScanner();
  state.out.push({ type: "call_start", index: state.index, name });
}

function readJson(state: ParserState, text: string): string {
  const end = state.jsonEnd(text);
  const piece = end < 0 ? text : text.slice(0, end);
  state.out.push({ type: "call_delta", index: state.index, text: piece });
  if (end >= 0) state.mode = "after_block";
  return text.slice(piece.length);
}

/** Arguments that are not JSON: the line is kept, so that the call is rejected. */
function readJsonLine(state: ParserState, text: string): string {
  const end = text.indexOf("\n");
  const piece = end < 0 ? text : text.slice(0, end);
  if (piece) state.out.push({ type: "call_delta", index: state.index, text: piece });
  if (end < 0) return "";
  state.mode = "after_block";
  return text.slice(end);
}

function startThought(state: ParserState): void {
  state.gap = "";
  state.isAfterBlock = true;
  state.depth = 1;
  state.thoughtPrefix = state.isAfterThought ? "\n\n" : "";
  state.mode = "thought";
}

function readThought(state: ParserState, text: string): string {
  const brackets = /[[\]]/g;
  let end = text.length;
  for (let found = brackets.exec(text); found && state.depth > 0; found = brackets.exec(text)) {
    state.depth += found[0] === "[" ? 1 : -1;
    end = state.depth > 0 ? text.length : found.index;
  }
  emitReasoning(state, text.slice(0, end));
  if (state.depth > 0) return "";
  state.mode = "after_block";
  return text.slice(end + 1);
}

function emitReasoning(state: ParserState, piece: string): void {
  const { thoughtPrefix } = state;
  const text = thoughtPrefix === undefined ? piece : piece.trimStart();
  if (!text) return;
  state.out.push({ type: "reasoning", text: `${thoughtPrefix ?? ""}${text}` });
  state.thoughtPrefix = undefined;
  state.isAfterThought = true;
}

function readAfterBlock(state: ParserState, text: string): string {
  const rest = text.slice(/^[ \t\r]*/.exec(text)?.[0].length);
  if (rest.startsWith("\n")) {
    state.mode = "line_start";
    return rest.slice(1);
  }
  if (rest.startsWith("`") && state.isFenced) state.mode = "line_start";
  else if (rest !== "") startLine(state, undefined);
  return rest;
}

function emitText(state: ParserState, text: string): void {
  if (!text) return;
  state.isAfterBlock = false;
  state.isAfterThought = false;
  state.isFenced = false;
  const last = state.out.at(-1);
  if (last?.type === "text") state.out[state.out.length - 1] = { type: "text", text: last.text + text };
  else state.out.push({ type: "text", text });
}

function finishParsing(state: ParserState): void {
  const { held, isAfterBlock, isFenced } = state;
  state.held = "";
  if (state.mode === "head") {
    const unfinished = readUnfinishedHead(held, state.offered);
    if (!unfinished) {
      startLine(state, undefined);
      consumeText(state, held);
      finishParsing(state);
      return;
    }
    startDialectCall(state, unfinished.name);
    state.out.push({ type: "call_delta", index: state.index, text: unfinished.argumentText });
  } else if (!(isFenced && /^ {0,3}`{3,}\s*$/.test(held)) && !(isAfterBlock && held.trim() === "")) {
    emitText(state, state.gap + held);
  }
  state.gap = "";
  state.fence = "";
  state.mode = "line_start";
}
