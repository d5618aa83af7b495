import type { SourcesProps } from "@capstan/studio";
import type { Fragment, UiHint } from "capstan";
import { contentWords } from "../library/content-words.ts";
import type { Passage } from "../library/search-index.ts";

/** Something found, with where it is from. */
export type Found = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly place: string;
  readonly url?: string;
};

/** With the heading in its title. */
export function titled(passage: Passage): Passage {
  const { title, heading } = passage;
  return heading && heading.toLowerCase() !== title.toLowerCase()
    ? { ...passage, title: `${title}: ${heading}` }
    : passage;
}

/** What was found, for an answer to cite. */
export function contextsOf(found: readonly Found[]): readonly Fragment[] {
  return found.map(({ id, title, text, place, url }) => ({
    id,
    content: text,
    source: { title, place, ...(url !== undefined && { url }) },
  }));
}

/** The beginnings of it for people to look at, with the words of the query marked. */
export function sourcesHint(title: string, found: readonly Found[], query: string): UiHint {
  const props: SourcesProps = {
    title,
    sources: found.map(({ title: name, text, place, url }) => {
      const shown = beginningOf(text);
      const cited = wordsIn(shown, query);
      return { title: name, place, ...(url !== undefined && { url }), text: shown, cited };
    }),
  };
  return { kind: "sources", props };
}

const longestShown = 400;

/** Up to the first code: whoever wants to read on opens the source from the answer. */
function beginningOf(text: string): string {
  const [prose = ""] = text.split("\n\n```", 1);
  const shown = prose.slice(0, longestShown).toWellFormed();
  return shown === text ? text : `${shown} …`;
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
