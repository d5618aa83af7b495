import type { ToolSpec } from "capstan";
import { clausesOf, wishedIn } from "./clauses.ts";
import type { Done } from "./done-calls.ts";
import { takesAway } from "./taking-away.ts";
import { type Wish, wishesIn } from "./understand.ts";
import { wordsOf } from "./words.ts";

/** What was to be taken away and was not: no tool fits, or what is meant was not found for certain. */
export function undoneIn(said: string, tools: readonly ToolSpec[], done: readonly Done[]): string[] {
  // Without tools nothing tells what a call was for.
  if (tools.length === 0) return [];
  const wishes = wishesIn(said, tools);
  const called = new Set(done.map(({ call }) => call.name));
  const isMissed = ({ words, match }: Wish) => takesAway(words) && !called.has(match.tool.name);
  return clausesOf(wishedIn(said))
    .map(({ text }) => text)
    .filter((text) => {
      const words = wordsOf(text);
      const own = wishes.filter((wish) =>
        words.every(({ stem }) => wish.words.some((word) => word.stem === stem)),
      );
      return takesAway(words) && own.every(isMissed);
    });
}
