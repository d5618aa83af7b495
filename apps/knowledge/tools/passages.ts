import type { SourcesProps } from "@capstan/studio";
import type { Fragment, UiHint } from "capstan";
import { contentWords } from "../library/content-words.ts";

/** Something found, with where it is from. */
export type Found = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly place: string;
  readonly url?: string;
};

/** What was found, for an answer to cite. */
export function contextsOf(found: readonly Found[]): readonly Fragment[] {
  return found.map(({ id, title, text, place, url }) => ({
    id,
    content: text,
    source: { title, place, ...(url !== undefined && { url }) },
  }));
}

const longestShown = 3000;

/** The same for people to look at, with the words of the query marked. */
export function sourcesHint(title: string, found: readonly Found[], query: string): UiHint {
  const props: SourcesProps = {
    title,
    sources: found.map(({ title: name, text, place, url }) => ({
      title: name,
      place,
      ...(url !== undefined && { url }),
      text: text.slice(0, longestShown).toWellFormed(),
      cited: wordsIn(text, query),
    })),
  };
  return { kind: "sources", props };
}

const mostMarked = 20;

/** The words of the query as the text writes them, whatever their endings. */
function wordsIn(text: string, query: string): string[] {
  const stems = contentWords(query).map((word) => word.slice(0, Math.max(4, word.length - 3)));
  const words = new Set(text.match(/[\p{L}\p{N}_]+/gu));
  return [...words]
    .filter((word) => stems.some((stem) => word.toLowerCase().startsWith(stem)))
    .slice(0, mostMarked);
}
