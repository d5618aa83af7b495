import type { Example } from "./match-template.ts";
import { isFiller } from "./meanings.ts";
import { nameWords, type Word, wordsOf } from "./words.ts";

/** Words that ask. */
export const questions: ReadonlySet<string> = new Set(
  "what which who where when how why is are do does did".split(" "),
);

/** "Should I delete it?" asks; "could you delete it?" is a polite way to say so. */
export function asks([first, second]: readonly Word[]): boolean {
  const isModal = /^(?:should|shall|would|could|can|may|must)$/u.test(first?.stem ?? "");
  return questions.has(first?.stem ?? "") || (isModal && second?.stem !== "you");
}

const taking: ReadonlySet<string> = new Set(
  (
    "delete remove erase clear forget drop undo discard unsave unpin unmark unset revert reset rid trash wipe throw " +
    "cancel"
  ).split(" "),
);

const isOpener = (word: Word): boolean =>
  isFiller(word) ||
  /^(?:first|next|again|quickly|hello|sorry|ok|okay|yes|no|well|alright|go)$/u.test(word.stem);

/** What a sentence wants done first. */
export const verbOf = (words: readonly Word[]): Word | undefined => words.find((word) => !isOpener(word));

/** "Delete it", "please get rid of the letter": something is to be taken away. A question whether to is none of it. */
export const takesAway = (words: readonly Word[]): boolean =>
  !asks(words) && taking.has(verbOf(words)?.stem ?? "");

/** By what it says, or by an argument such as `remove: true`. */
export const exampleTakesAway = ({ phrase, input }: Pick<Example, "phrase" | "input">): boolean =>
  taking.has(verbOf(wordsOf(phrase.replace(/\{[^}]*\}/gu, " ")))?.stem ?? "") ||
  Object.entries(input).some(([key, value]) => value === true && isTakingName(key));

const isTakingName = (name: string): boolean => nameWords(name).some((part) => taking.has(part));

type Deeds = {
  readonly tool: { readonly name: string; readonly description: string };
  readonly examples: readonly { readonly isTaking: boolean }[];
};

/** A tool that does nothing else: one that adds too must be told by an example which of the two it is to do. */
export const onlyTakesAway = ({ tool: { name, description }, examples }: Deeds): boolean =>
  (isTakingName(name) || taking.has(wordsOf(description)[0]?.stem ?? "")) &&
  examples.every(({ isTaking }) => isTaking);
