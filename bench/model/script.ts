// The script of the fake model: a number of turns that call the tool, then a text. The server and the checks share it.

export type Script = {
  readonly toolTurns: number;
  readonly callsPerTurn: number;
  /** Number of pieces in the arguments of a call. */
  readonly fragments: number;
  /** Number of pieces in the text. */
  readonly textPieces: number;
  /** Milliseconds between two pieces of text; 0 sends all at once. */
  readonly paceMs: number;
  /** Sends the first piece of text, then hangs. */
  readonly hangs: boolean;
};

export type Call = { readonly id: string; readonly name: string; readonly fragments: readonly string[] };
export type Answer = { readonly text: readonly string[] } | { readonly calls: readonly Call[] };

export const toolName = "lookup";

const words = "The quick brown fox jumps over the lazy dog, then it rests. ".match(/\S+\s/g) ?? [];
const getWord = (n: number): string => words[n % words.length] ?? "";
const createRange = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

export const formatKey = (turn: number, call: number): string => `t${turn}c${call}`;
export const createNote = (fragments: number): string =>
  createRange(Math.max(2, fragments))
    .map((n) => getWord(n))
    .join("");
/** The tool's result for a key. The server expects it in the next request. */
export const formatResult = (key: string): string =>
  `value of ${key}: found in the second drawer on the left.`;

/** The model's response in a turn, counted from 0. */
export function createAnswer(script: Script, turn: number): Answer {
  if (turn >= script.toolTurns) return { text: [...createRange(script.textPieces - 1).map(getWord), "End."] };
  return {
    calls: createRange(script.callsPerTurn).map((call) => ({
      id: `call_${formatKey(turn, call)}`,
      name: toolName,
      fragments: splitText(
        JSON.stringify({ key: formatKey(turn, call), note: createNote(script.fragments) }),
        script.fragments,
      ),
    })),
  };
}

function splitText(text: string, count: number): string[] {
  const size = Math.ceil(text.length / count);
  return createRange(count).map((n) => text.slice(n * size, (n + 1) * size));
}

/** The expected final text of every run. */
export function getFinalText(script: Script): string {
  const answer = createAnswer(script, script.toolTurns);
  return "text" in answer ? answer.text.join("") : "";
}
