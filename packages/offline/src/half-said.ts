import type { ToolSpec } from "capstan";
import type { Example } from "./match-template.ts";
import { bestExample } from "./match-tool.ts";
import { type ToolWords, vocabularyOf } from "./vocabulary.ts";
import { type Word, wordsOf } from "./words.ts";

const dots = "…";

const prepositions = new Set("from to in at on into via near by with for".split(" "));

const halves = new WeakMap<ToolWords, ToolWords["examples"]>();

/**
 * A sentence that says all of an example but one "from {place}": the example with what was said in its slots, and dots
 * for what was not. "How do I get to the pier" is "how do I get from … to the pier".
 */
export function halfSaid(words: readonly Word[], tools: readonly ToolSpec[]): string | undefined {
  let best: { readonly text: string; readonly closeness: number } | undefined;
  for (const known of vocabularyOf(tools).tools) {
    const examples = halves.get(known) ?? halvesOf(known);
    halves.set(known, examples);
    const match = bestExample(words, { ...known, examples });
    if (!match || match.said === 0 || (best && best.closeness >= match.closeness)) continue;
    const text = match.phrase.replace(/\{([^}]*)\}/gu, (_, slot: string) => match.slots.get(slot) ?? dots);
    best = { text, closeness: match.closeness };
  }
  return best?.text;
}

/** An argument of its own is asked for by its name; here, a part of one is missing. */
function halvesOf({ examples, properties }: ToolWords): ToolWords["examples"] {
  const isArgument = (slot: string) => properties.some(({ name }) => name === slot);
  const isNeeded = (slot: string, { input }: Example) =>
    properties.some(
      ({ name, required }) => required && JSON.stringify(input[name] ?? "").includes(`{${slot}}`),
    );
  return examples.flatMap((example) =>
    example.pieces.flatMap((piece, at) => {
      const before = example.pieces[at - 1];
      if (!("slot" in piece) || isArgument(piece.slot) || !isNeeded(piece.slot, example)) return [];
      if (!before || !("stem" in before) || !prepositions.has(before.stem)) return [];
      const pieces = example.pieces.toSpliced(at - 1, 2);
      return pieces.some((other) => "slot" in other) ? [{ ...example, pieces }] : [];
    }),
  );
}

const question = "One thing is missing for that. What belongs in the place of the dots:";

export const askForRest = (half: string): string => `${question} "${half}"?`;

/** Whether a text is that question, whatever it asks for. */
export const asksForRest = (text: string): boolean => text.startsWith(question);

const lead =
  /^\s*(?:(?:i['’]?m|i am|we['’]?re|we are|it['’]?s|it is|that['’]?s)\s+)?(?:(?:right\s+)?(?:from|to|at|in|on|into|via|near|by|with|for)\s+)?/iu;

/** The whole sentence, with the answer to `askForRest` in it. */
export function wholeSaid(half: string, reply: string): string | undefined {
  const rest = reply.replace(lead, "").replace(/[\s.!?]+$/u, "");
  return rest === "" || wordsOf(rest).length > 6 ? undefined : half.replace(dots, () => rest);
}
