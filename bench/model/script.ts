// What the fake model says: so many turns that call the tool, then a text. The server and whoever checks a run read
// the same script.

export type Script = {
  readonly toolTurns: number;
  readonly callsPerTurn: number;
  /** Pieces in which the arguments of a call come. */
  readonly fragments: number;
  /** Pieces of the text. */
  readonly textPieces: number;
  /** Milliseconds between two pieces of the text; 0 sends all at once. */
  readonly paceMs: number;
  /** Says the first piece of the text and then nothing more. */
  readonly hangs: boolean;
};

export type Call = { readonly id: string; readonly name: string; readonly fragments: readonly string[] };
export type Answer = { readonly text: readonly string[] } | { readonly calls: readonly Call[] };

export const toolName = "lookup";

const words = "The quick brown fox jumps over the lazy dog, then it rests. ".match(/\S+\s/g) ?? [];
const word = (n: number): string => words[n % words.length] ?? "";
const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

export const keyOf = (turn: number, call: number): string => `t${turn}c${call}`;
export const noteOf = (fragments: number): string =>
  range(Math.max(2, fragments))
    .map((n) => word(n))
    .join("");
/** What the tool gives for a key. The server looks for it in the next request. */
export const resultOf = (key: string): string => `value of ${key}: found in the second drawer on the left.`;

/** What the model says at its turn, counted from 0. */
export function answerAt(script: Script, turn: number): Answer {
  if (turn >= script.toolTurns) return { text: [...range(script.textPieces - 1).map(word), "End."] };
  return {
    calls: range(script.callsPerTurn).map((call) => ({
      id: `call_${keyOf(turn, call)}`,
      name: toolName,
      fragments: cut(
        JSON.stringify({ key: keyOf(turn, call), note: noteOf(script.fragments) }),
        script.fragments,
      ),
    })),
  };
}

function cut(text: string, count: number): string[] {
  const size = Math.ceil(text.length / count);
  return range(count).map((n) => text.slice(n * size, (n + 1) * size));
}

/** The text that every run must end with. */
export function textOf(script: Script): string {
  const answer = answerAt(script, script.toolTurns);
  return "text" in answer ? answer.text.join("") : "";
}
