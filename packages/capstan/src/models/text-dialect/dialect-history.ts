// The history in the text dialect. Everything is text of the user or of the assistant:
//
//   assistant   its words, then per call      TOOL_CALL: name \n ARGUMENTS: json
//   user        per result of a turn          TOOL_RESULT: name \n STATUS: success|error \n CONTENT: … \n ---
//
// What was thought, and what the provider gave for its own use, is not sent back: it belongs to an answer in a form
// that the provider never saw. Our markers in what people, pages and summaries say become a quotation, and names of
// control tokens are broken: nobody can write what the model would take for a tool, or for the system.
import {
  type AssistantEntry,
  type Entry,
  getCalls,
  getText,
  type Part,
  type ResultEntry,
  toPlainText,
  type UserEntry,
} from "../../history.ts";
import { type SpecialTokens, withoutTokens } from "../special-tokens.ts";
import { quoted } from "./call-head.ts";

type Results = { readonly last: ResultEntry; readonly entry: UserEntry };

export type DialectOptions = {
  /** `kept` where the model takes names of control tokens for text. By default they are broken. */
  readonly specialTokens?: SpecialTokens;
};

/** A text as it is sent. */
export type Say = (text: string) => string;

/** How texts are sent with these options. */
export function sayWith({ specialTokens = "broken" }: DialectOptions): Say {
  return specialTokens === "kept" ? (text) => text : withoutTokens;
}

/** Turns histories into text. An entry is converted once, and gives the same object every time. */
export function dialectHistory(say: Say): (history: readonly Entry[]) => Entry[] {
  const entries = new WeakMap<Entry, Entry>();
  const results = new WeakMap<ResultEntry, Results>();
  return (history) => {
    const converted: Entry[] = [];
    for (let at = 0; at < history.length; at++) {
      const entry = history[at] as Entry;
      if (entry.type === "result") {
        const turn = resultsFrom(history, at);
        converted.push(resultsEntry(turn, results, say));
        at += turn.length - 1;
      } else {
        const known = entries.get(entry) ?? textEntry(entry, say);
        entries.set(entry, known);
        if (known.type !== "assistant" || known.parts.length > 0) converted.push(known);
      }
    }
    return converted;
  };
}

function textEntry(entry: Exclude<Entry, ResultEntry>, say: Say): Entry {
  switch (entry.type) {
    case "user":
      return userEntry(entry, say);
    case "assistant":
      return assistantEntry(entry, say);
    case "summary": {
      const text = say(quoted(entry.text));
      return text === entry.text ? entry : { type: "summary", text };
    }
  }
}

type Turn = readonly [ResultEntry, ...ResultEntry[]];

function resultsFrom(history: readonly Entry[], from: number): Turn {
  let end = from;
  while (history[end]?.type === "result") end++;
  return history.slice(from, end) as unknown as Turn;
}

function resultsEntry(turn: Turn, known: WeakMap<ResultEntry, Results>, say: Say): UserEntry {
  const last = turn.at(-1) ?? turn[0];
  const cached = known.get(turn[0]);
  if (cached?.last === last) return cached.entry;
  const text = turn.map((result) => resultText(result, say)).join("\n");
  const media = turn.flatMap(mediaOf);
  const entry: UserEntry = {
    type: "user",
    content: media.length > 0 ? [{ type: "text", text }, ...media] : text,
  };
  known.set(turn[0], { last, entry });
  return entry;
}

/** A result ends with a line of its own, after which the person speaks: it must not write that line itself. */
const ends = /^(?=[ \t]*---[ \t]*$)/gm;

function resultText({ name, status, content }: ResultEntry, say: Say): string {
  const outcome = status === "ok" ? "success" : "error";
  const text = say(quoted(toPlainText(content)).replace(ends, "> "));
  // The model may have called something by a name of several lines.
  return `TOOL_RESULT: ${say(name.replace(/\s+/g, " "))}\nSTATUS: ${outcome}\nCONTENT: ${text}\n---`;
}

function mediaOf({ content }: ResultEntry): readonly Part[] {
  return typeof content === "string" ? [] : content.filter(({ type }) => type !== "text");
}

function userEntry(entry: UserEntry, say: Say): UserEntry {
  const { content } = entry;
  if (typeof content === "string") {
    const text = say(quoted(content));
    return text === content ? entry : { type: "user", content: text };
  }
  const parts = joinedTexts(content);
  return {
    type: "user",
    content: parts.map((part) => (part.type === "text" ? { ...part, text: say(quoted(part.text)) } : part)),
  };
}

/** Texts side by side become one, or a marker could begin in one of them and end in the next. */
function joinedTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.type === "text" && part.type === "text")
      joined[joined.length - 1] = { type: "text", text: `${last.text}\n${part.text}` };
    else joined.push(part);
  }
  return joined;
}

function assistantEntry(entry: AssistantEntry, say: Say): AssistantEntry {
  const said = getText(entry);
  const isPlain = entry.parts.every((part) => part.type === "text" && part.opaque === undefined);
  if (isPlain && say(said) === said) return entry;
  const calls = getCalls(entry).map(
    ({ name, input, raw }) => `TOOL_CALL: ${name}\nARGUMENTS: ${raw ?? JSON.stringify(input)}`,
  );
  const text = say([...(said ? [said] : []), ...calls].join("\n\n"));
  return { type: "assistant", parts: text ? [{ type: "text", text }] : [] };
}
