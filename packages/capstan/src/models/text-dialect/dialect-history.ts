// Converts the history to the text dialect. Everything becomes user or assistant text:
//
//   assistant   its text, then per call       TOOL_CALL: name \n ARGUMENTS: json
//   user        per result of a turn          TOOL_RESULT: name \n STATUS: success|error \n CONTENT: … \n ---
//
// Reasoning and opaque data are not sent back: they belong to an answer in a format that the provider never saw.
// Markers in user input, tool results and summaries are quoted, and names of control tokens are broken up, so that
// untrusted content cannot imitate a tool or the system.
import {
  type AssistantEntry,
  type Entry,
  formatPlaceholder,
  getCalls,
  getMedia,
  getText,
  type Part,
  type ResultEntry,
  toPlainText,
  type UserEntry,
} from "../../kernel/history.ts";
import { breakTokens, type SpecialTokens } from "../special-tokens.ts";
import { quoteMarkers } from "./call-head.ts";

type CachedResults = { readonly last: ResultEntry; readonly entry: UserEntry };

export type DialectOptions = {
  /** `kept` if the model reads names of control tokens as text. Default: `broken`. */
  readonly specialTokens?: SpecialTokens;
  /**
   * `section`: with tools, the conversation is one message, a section CONVERSATION HISTORY before the instruction to
   * call a tool or answer. Default: `messages`, as the provider separates them.
   */
  readonly history?: "messages" | "section";
};

/** Prepares a text for sending. */
export type SanitizeText = (text: string) => string;

export function createSanitizer({ specialTokens = "broken" }: DialectOptions): SanitizeText {
  return specialTokens === "kept" ? (text) => text : breakTokens;
}

/** Creates a converter for histories. Each entry is converted once and always returns the same object. */
export function createHistoryConverter(sanitize: SanitizeText): (history: readonly Entry[]) => Entry[] {
  const entries = new WeakMap<Entry, Entry>();
  const results = new WeakMap<ResultEntry, CachedResults>();
  return (history) => {
    const converted: Entry[] = [];
    for (let at = 0; at < history.length; at++) {
      const entry = history[at] as Entry;
      if (entry.type === "result") {
        const turn = sliceResults(history, at);
        converted.push(toResultsEntry(turn, results, sanitize));
        at += turn.length - 1;
      } else {
        const known = entries.get(entry) ?? toTextEntry(entry, sanitize);
        entries.set(entry, known);
        if (known.type !== "assistant" || known.parts.length > 0) converted.push(known);
      }
    }
    return converted;
  };
}

function toTextEntry(entry: Exclude<Entry, ResultEntry>, sanitize: SanitizeText): Entry {
  switch (entry.type) {
    case "user":
      return toTextUserEntry(entry, sanitize);
    case "assistant":
      return toTextAssistantEntry(entry, sanitize);
    case "summary": {
      const text = sanitize(quoteMarkers(entry.text));
      return text === entry.text ? entry : { type: "summary", text };
    }
  }
}

type TurnResults = readonly [ResultEntry, ...ResultEntry[]];

function sliceResults(history: readonly Entry[], from: number): TurnResults {
  let end = from;
  while (history[end]?.type === "result") end++;
  return history.slice(from, end) as unknown as TurnResults;
}

function toResultsEntry(
  turn: TurnResults,
  known: WeakMap<ResultEntry, CachedResults>,
  sanitize: SanitizeText,
): UserEntry {
  const last = turn.at(-1) ?? turn[0];
  const cached = known.get(turn[0]);
  if (cached?.last === last) return cached.entry;
  const text = turn.map((result) => formatResult(result, sanitize)).join("\n");
  const media = turn.flatMap(listMedia);
  const entry: UserEntry = {
    type: "user",
    content: media.length > 0 ? [{ type: "text", text }, ...media] : text,
  };
  known.set(turn[0], { last, entry });
  return entry;
}

/** Matches the line that closes a result, which the content of a result must not contain. */
const closingLine = /^(?=[ \t]*---[ \t]*$)/gm;

function formatResult({ name, status, content }: ResultEntry, sanitize: SanitizeText): string {
  const outcome = status === "ok" ? "success" : "error";
  const text = sanitize(quoteMarkers(toPlainText(content)).replace(closingLine, "> "));
  // The model may have called a name that spans several lines.
  return `TOOL_RESULT: ${sanitize(name.replace(/\s+/g, " "))}\nSTATUS: ${outcome}\nCONTENT: ${text}\n---`;
}

function listMedia({ content }: ResultEntry): readonly Part[] {
  return typeof content === "string" ? [] : content.filter(({ type }) => type !== "text");
}

function toTextUserEntry(entry: UserEntry, sanitize: SanitizeText): UserEntry {
  const { content } = entry;
  if (typeof content === "string") {
    const text = sanitize(quoteMarkers(content));
    return text === content ? entry : { type: "user", content: text };
  }
  const parts = joinEntryTexts(content);
  return {
    type: "user",
    content: parts.map((part) =>
      part.type === "text" ? { ...part, text: sanitize(quoteMarkers(part.text)) } : part,
    ),
  };
}

/** Merges adjacent texts, because a marker could span two of them. */
function joinEntryTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.type === "text" && part.type === "text")
      joined[joined.length - 1] = { type: "text", text: `${last.text}\n${part.text}` };
    else joined.push(part);
  }
  return joined;
}

function toTextAssistantEntry(entry: AssistantEntry, sanitize: SanitizeText): AssistantEntry {
  const said = getText(entry);
  const isPlain = entry.parts.every((part) => part.type === "text" && part.opaque === undefined);
  if (isPlain && sanitize(said) === said) return entry;
  const calls = getCalls(entry).map(
    ({ name, input, raw }) => `TOOL_CALL: ${name}\nARGUMENTS: ${raw ?? JSON.stringify(input)}`,
  );
  const notes = getMedia(entry).map(formatPlaceholder);
  const text = sanitize([...(said ? [said] : []), ...notes, ...calls].join("\n\n"));
  return { type: "assistant", parts: text ? [{ type: "text", text }] : [] };
}
