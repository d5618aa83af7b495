import { isRecord, type ModelRequest, toPlainText } from "capstan";

/** Summarizes a turn or a conversation if the instructions ask for exactly that. */
export function summarize({ instructions, history, tools }: ModelRequest): string | undefined {
  const [only] = history;
  if (tools.length > 0 || history.length > 1 || only?.type !== "user") return undefined;
  const text = toPlainText(only.content);
  if (/^Tell the waiting user in one short sentence\b.*\bwhat was done\b/su.test(instructions))
    return summarizeStep(text);
  if (!/^You summari[sz]e\b/u.test(instructions)) return undefined;
  const most = Number(/\bat most (\d+) words\b/u.exec(instructions)?.[1] ?? 200);
  return summarizeConversation(text, most);
}

/** A result may span several lines. */
function summarizeStep(text: string): string {
  const calls = [
    ...text.matchAll(/^called (\S+) with .*?\}: ([\s\S]*?)(?=\ncalled \S+ with |$(?![\s\S]))/gmu),
  ];
  if (calls.length === 0) return "Wrote the answer.";
  return calls
    .map(([, name, result = ""]) => {
      const gist = extractGist(result);
      return gist === "" ? `Used ${name}.` : `Used ${name}: ${gist}`;
    })
    .join(" ");
}

/** The message of a result, else its first sentence. A truncated result is not valid JSON. */
function extractGist(result: string): string {
  const quoted = /"message":\s*("(?:[^"\\]|\\.)*")/u.exec(result)?.[1];
  const said = quoted === undefined ? result : String(JSON.parse(quoted));
  if (/^\s*(?:[[{]|$)/u.test(said)) return "";
  const sentence = /^.*?[.!?](?=\s|$)/su.exec(said.trim())?.[0] ?? said.trim();
  return ensureEnd(truncateWords(sentence.replace(/\s+/gu, " "), 30));
}

const speakers: { readonly [from: string]: string } = {
  person: "The person said",
  assistant: "The assistant said",
};

/** One line per entry, truncated to fit the word limit. */
function summarizeConversation(text: string, mostWords: number): string {
  const told = text.split("\n").flatMap((line) => formatEntryLines(parseLine(line)));
  const most = Math.max(6, Math.floor(mostWords / Math.max(1, told.length)));
  const lines = told.map((line) => truncateWords(line, most));
  const kept = Math.max(1, Math.floor(mostWords / most));
  // Keep the first line for the topic, and the most recent ones.
  return (lines.length > kept ? [lines[0], ...lines.slice(lines.length - kept + 1)] : lines).join("\n");
}

function formatEntryLines(entry: unknown): readonly string[] {
  if (!isRecord(entry) || typeof entry.text !== "string" || entry.text.trim() === "") return [];
  const { from, name, text } = entry;
  // An earlier summary has a heading and quoted lines.
  if (from === "summary") return [...text.matchAll(/^> (.+)$/gmu)].map(([, line = ""]) => line);
  const who = from === "tool" ? `${String(name)} found` : speakers[String(from)];
  const said = (from === "tool" && extractGist(text)) || text.replace(/\s+/gu, " ");
  return who === undefined ? [] : [`${who}: ${said}`];
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // text around the conversation
  }
}

function truncateWords(text: string, most: number): string {
  const words = text.split(" ");
  return words.length > most ? `${words.slice(0, most).join(" ")}…` : text;
}

const ensureEnd = (text: string): string => (/[.!?…]$/u.test(text) ? text : `${text}.`);
