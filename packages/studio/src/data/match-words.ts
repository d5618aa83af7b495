import type { FoundSession, ListedSession } from "capstan/client";
import { foldText, splitWords } from "capstan/sessions";

/**
 * Whether each word of the query starts a word of the text, or the text contains the query as it is. Words are compared as
 * the server compares the words of messages.
 */
export function matchesWords(text: string, query: string): boolean {
  const words = splitWords(text);
  const queryWords = splitWords(query);
  const isFound = queryWords.every((queryWord) => words.some((word) => word.startsWith(queryWord)));
  return (queryWords.length > 0 && isFound) || foldText(text).includes(foldText(query.trim()));
}

/** Puts the sessions whose title matches before sessions in which only a message matches. */
export function mergeByTitle(
  sessions: readonly Pick<ListedSession, "id" | "title">[],
  found: readonly FoundSession[],
  query: string,
): readonly FoundSession[] {
  const titled = sessions.filter(({ title }) => matchesWords(title, query));
  const ids = new Set(titled.map(({ id }) => id));
  return [
    ...titled.map(({ id, title }) => found.find((session) => session.id === id) ?? { id, title, places: [] }),
    ...found.filter(({ id }) => !ids.has(id)),
  ];
}
