import type { ToolSpec } from "capstan";
import { tokenize, type Word } from "../language/words.ts";
import { findBestExample } from "./match-tool.ts";
import type { Example } from "./parse-examples.ts";
import { getVocabulary, type ToolWords } from "./vocabulary.ts";

const placeholder = "…";

const prepositions = new Set("from to in at on into via near by with for".split(" "));

const partialExampleCache = new WeakMap<ToolWords, ToolWords["examples"]>();

/**
 * Matches a sentence that lacks one prepositional slot of an example, such as "from {place}". Returns the example with
 * its slots filled and "…" for the missing one: "how do I get to the pier" gives "how do I get from … to the pier".
 */
export function findPartialExample(words: readonly Word[], tools: readonly ToolSpec[]): string | undefined {
  let best: { readonly text: string; readonly closeness: number } | undefined;
  for (const known of getVocabulary(tools).tools) {
    const examples = partialExampleCache.get(known) ?? buildPartialExamples(known);
    partialExampleCache.set(known, examples);
    const match = findBestExample(words, { ...known, examples });
    if (!match || match.matchedWeight === 0 || (best && best.closeness >= match.closeness)) continue;
    const text = match.phrase.replace(
      /\{([^}]*)\}/gu,
      (_, slot: string) => match.slots.get(slot) ?? placeholder,
    );
    best = { text, closeness: match.closeness };
  }
  return best?.text;
}

/** Builds examples with one slot and its preposition removed. */
function buildPartialExamples({ examples, properties }: ToolWords): ToolWords["examples"] {
  const isNeeded = (slot: string, { input }: Example) =>
    properties.some(
      ({ name, required }) =>
        required && (name === slot || JSON.stringify(input[name] ?? "").includes(`{${slot}}`)),
    );
  return examples.flatMap((example) =>
    example.pieces.flatMap((piece, at) => {
      const before = example.pieces[at - 1];
      if (!("slot" in piece) || !isNeeded(piece.slot, example)) return [];
      if (!before || !("stem" in before) || !prepositions.has(before.stem)) return [];
      const pieces = example.pieces.toSpliced(at - 1, 2);
      return pieces.some((other) => "slot" in other) ? [{ ...example, pieces }] : [];
    }),
  );
}

const completionQuestion = "One thing is missing:";

/** Asks for the missing slot: "One thing is missing: to what?" */
export function formatCompletionQuestion(partial: string): string {
  const preposition = /(\S+)\s+…/u.exec(partial)?.[1] ?? "for";
  return `${completionQuestion} ${preposition} what? You could say "${partial}".`;
}

/** True if a text was formatted by `formatCompletionQuestion`. */
export const isCompletionQuestion = (text: string): boolean => text.startsWith(completionQuestion);

const replyPrefix =
  /^\s*(?:(?:i['’]?m|i am|we['’]?re|we are|it['’]?s|it is|that['’]?s)\s+)?(?:(?:right\s+)?(?:from|to|at|in|on|into|via|near|by|with|for)\s+)?/iu;

/** True for replies such as "from Tunis" or "I'm in Tunis". */
export const hasReplyPrefix = (reply: string): boolean => (replyPrefix.exec(reply)?.[0].trim() ?? "") !== "";

/** The partial example completed with the reply to `formatCompletionQuestion`. */
export function completeSentence(partial: string, reply: string): string | undefined {
  const rest = reply.replace(replyPrefix, "").replace(/[\s.!?]+$/u, "");
  return rest === "" || tokenize(rest).length > 6 ? undefined : partial.replace(placeholder, () => rest);
}
