import { isRecord, type ModelRequest, toPlainText } from "capstan";

/** A step of work in one sentence, or an earlier conversation in few words, when the instructions ask for just that. */
export function sumUp({ instructions, history, tools }: ModelRequest): string | undefined {
  const [only] = history;
  if (tools.length > 0 || history.length > 1 || only?.type !== "user") return undefined;
  const text = toPlainText(only.content);
  if (/^Say in one short sentence\b.*\bwhat was done\b/su.test(instructions)) return stepInWords(text);
  if (!/^You summari[sz]e\b/u.test(instructions)) return undefined;
  const most = Number(/\bat most (\d+) words\b/u.exec(instructions)?.[1] ?? 200);
  return conversationInWords(text, most);
}

/** Each line of the step begins with what it is; a result may have lines of its own. */
function stepInWords(text: string): string {
  const calls = [
    ...text.matchAll(/^called (\S+) with .*?\}: ([\s\S]*?)(?=\ncalled \S+ with |$(?![\s\S]))/gmu),
  ];
  if (calls.length === 0) return "Wrote the answer.";
  return calls
    .map(([, name, result = ""]) => {
      const gist = gistOf(result);
      return gist === "" ? `Used ${name}.` : `Used ${name}: ${gist}`;
    })
    .join(" ");
}

/** What a result says of itself: its message, else its first sentence. A result that was cut is no JSON any more. */
function gistOf(result: string): string {
  const quoted = /"message":\s*("(?:[^"\\]|\\.)*")/u.exec(result)?.[1];
  const said = quoted === undefined ? result : String(JSON.parse(quoted));
  if (/^\s*(?:[[{]|$)/u.test(said)) return "";
  const sentence = /^.*?[.!?](?=\s|$)/su.exec(said.trim())?.[0] ?? said.trim();
  return withEnd(firstWords(sentence.replace(/\s+/gu, " "), 30));
}

const speakers: { readonly [from: string]: string } = {
  person: "The person said",
  assistant: "The assistant said",
};

/** A line for each thing said or found, each as long as there is room for. */
function conversationInWords(text: string, mostWords: number): string {
  const told = text.split("\n").flatMap((line) => linesOf(parsed(line)));
  const most = Math.max(6, Math.floor(mostWords / Math.max(1, told.length)));
  const lines = told.map((line) => firstWords(line, most));
  const kept = Math.max(1, Math.floor(mostWords / most));
  // What came first says what it is about; of the rest the newest counts.
  return (lines.length > kept ? [lines[0], ...lines.slice(lines.length - kept + 1)] : lines).join("\n");
}

function linesOf(entry: unknown): readonly string[] {
  if (!isRecord(entry) || typeof entry.text !== "string" || entry.text.trim() === "") return [];
  const { from, name, text } = entry;
  // An earlier summary has a heading, and its lines are marked.
  if (from === "summary") return [...text.matchAll(/^> (.+)$/gmu)].map(([, line = ""]) => line);
  const who = from === "tool" ? `${String(name)} found` : speakers[String(from)];
  const said = (from === "tool" && gistOf(text)) || text.replace(/\s+/gu, " ");
  return who === undefined ? [] : [`${who}: ${said}`];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // the words around the conversation
  }
}

function firstWords(text: string, most: number): string {
  const words = text.split(" ");
  return words.length > most ? `${words.slice(0, most).join(" ")}…` : text;
}

const withEnd = (text: string): string => (/[.!?…]$/u.test(text) ? text : `${text}.`);
