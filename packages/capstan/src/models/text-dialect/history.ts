// The history in the text dialect. Everything is text of the user or of the assistant:
//
//   assistant   its words, then per call      TOOL_CALL: name \n ARGUMENTS: json
//   user        per result of a turn          TOOL_RESULT: name \n STATUS: success|error \n CONTENT: … \n ---
//
// What was thought, and what the provider gave for its own use, is not sent back: it belongs to an answer in a form
// that the provider never saw.
import {
  type AssistantEntry,
  callsOf,
  type Entry,
  type Part,
  plainText,
  type ResultEntry,
  textOf,
  type UserEntry,
} from "../../history.ts";

type Results = { readonly last: ResultEntry; readonly entry: UserEntry };

/** Turns histories into text. An entry is converted once, and gives the same object every time. */
export function dialectHistory(): (history: readonly Entry[]) => Entry[] {
  const entries = new WeakMap<UserEntry | AssistantEntry, Entry>();
  const results = new WeakMap<ResultEntry, Results>();
  return (history) => {
    const converted: Entry[] = [];
    for (let at = 0; at < history.length; at++) {
      const entry = history[at] as Entry;
      if (entry.type === "summary") converted.push(entry);
      else if (entry.type === "result") {
        const turn = resultsFrom(history, at);
        converted.push(resultsEntry(turn, results));
        at += turn.length - 1;
      } else {
        const known =
          entries.get(entry) ?? (entry.type === "user" ? userEntry(entry) : assistantEntry(entry));
        entries.set(entry, known);
        if (known.type !== "assistant" || known.parts.length > 0) converted.push(known);
      }
    }
    return converted;
  };
}

type Turn = readonly [ResultEntry, ...ResultEntry[]];

function resultsFrom(history: readonly Entry[], from: number): Turn {
  let end = from;
  while (history[end]?.type === "result") end++;
  return history.slice(from, end) as unknown as Turn;
}

function resultsEntry(turn: Turn, known: WeakMap<ResultEntry, Results>): UserEntry {
  const last = turn.at(-1) ?? turn[0];
  const cached = known.get(turn[0]);
  if (cached?.last === last) return cached.entry;
  const text = turn.map(resultText).join("\n");
  const media = turn.flatMap(mediaOf);
  const entry: UserEntry = {
    type: "user",
    content: media.length > 0 ? [{ type: "text", text }, ...media] : text,
  };
  known.set(turn[0], { last, entry });
  return entry;
}

function resultText({ name, status, content }: ResultEntry): string {
  const outcome = status === "ok" ? "success" : "error";
  return `TOOL_RESULT: ${name}\nSTATUS: ${outcome}\nCONTENT: ${quoted(plainText(content))}\n---`;
}

function mediaOf({ content }: ResultEntry): readonly Part[] {
  return typeof content === "string" ? [] : content.filter(({ type }) => type !== "text");
}

const markers = /^(?=[ \t]*(?:TOOL_RESULT|TOOL_CALL):)/gm;

/** A page or a person may write our markers, to be taken for a tool: they become a quotation. */
function quoted(text: string): string {
  return text.replace(markers, "> ");
}

function userEntry(entry: UserEntry): UserEntry {
  const { content } = entry;
  if (typeof content === "string") {
    const text = quoted(content);
    return text === content ? entry : { type: "user", content: text };
  }
  const parts = content.map((part) => (part.type === "text" ? { ...part, text: quoted(part.text) } : part));
  return { type: "user", content: parts };
}

function assistantEntry(entry: AssistantEntry): AssistantEntry {
  const isPlain = entry.parts.every((part) => part.type === "text" && part.opaque === undefined);
  if (isPlain) return entry;
  const said = textOf(entry);
  const calls = callsOf(entry).map(
    ({ name, input, raw }) => `TOOL_CALL: ${name}\nARGUMENTS: ${raw ?? JSON.stringify(input)}`,
  );
  const text = [...(said ? [said] : []), ...calls].join("\n\n");
  return { type: "assistant", parts: text ? [{ type: "text", text }] : [] };
}
