import type { Example } from "../matching/parse-examples.ts";
import { isFiller } from "./synonyms.ts";
import { tokenize, toNameStems, type Word } from "./words.ts";

export const questionWords: ReadonlySet<string> = new Set(
  "what which who where when how why is are do does did".split(" "),
);

/** "Should I delete it?" is a question; "could you delete it?" is a polite request. */
export function isQuestion([first, second]: readonly Word[]): boolean {
  const isModal = /^(?:should|shall|would|could|can|may|must)$/u.test(first?.stem ?? "");
  return questionWords.has(first?.stem ?? "") || (isModal && second?.stem !== "you");
}

const removalVerbs: ReadonlySet<string> = new Set(
  (
    "delete remove erase clear forget drop undo discard unsave unpin unmark unset revert reset rid trash wipe throw " +
    "cancel"
  ).split(" "),
);

const isOpener = (word: Word): boolean =>
  isFiller(word) ||
  /^(?:first|next|again|quickly|hello|sorry|ok|okay|yes|no|well|alright|go)$/u.test(word.stem);

/** The first verb of a request. */
export const findVerb = (words: readonly Word[]): Word | undefined => words.find((word) => !isOpener(word));

/** True for requests such as "delete it" or "please get rid of the letter", but not for questions. */
export const isRemoval = (words: readonly Word[]): boolean =>
  !isQuestion(words) && removalVerbs.has(findVerb(words)?.stem ?? "");

/** True if the phrase of the example or an argument such as `remove: true` removes something. */
export const isRemovalExample = ({ phrase, input }: Pick<Example, "phrase" | "input">): boolean =>
  removalVerbs.has(findVerb(tokenize(phrase.replace(/\{[^}]*\}/gu, " ")))?.stem ?? "") ||
  Object.entries(input).some(([key, value]) => value === true && isRemovalName(key));

const isRemovalName = (name: string): boolean => toNameStems(name).some((part) => removalVerbs.has(part));

type RemovalCandidate = {
  readonly tool: { readonly name: string; readonly description: string };
  readonly examples: readonly { readonly isRemoval: boolean }[];
};

/** True if a tool only removes things. A tool that also adds needs an example to tell the two apart. */
export const onlyRemoves = ({ tool: { name, description }, examples }: RemovalCandidate): boolean =>
  isRemovalName(name) ||
  (removalVerbs.has(tokenize(description)[0]?.stem ?? "") && examples.every((example) => example.isRemoval));
