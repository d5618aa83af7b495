import type { SourcesProps } from "@capstan/studio";
import type { Fragment, UiHint } from "capstan";
import { getContentWords } from "../library/content-words.ts";
import type { Library } from "../library/library.ts";
import type { Passage } from "../library/search-index.ts";

/** A text with its source. */
export type SourceText = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly place: string;
  readonly url?: string;
  /** Address of the user's own file, at the passage. */
  readonly file?: string;
};

/** Adds the heading to the title, and the address of the file. */
export function toSources<Found extends Passage>(
  library: Library,
  passages: readonly Found[],
): readonly (Found & SourceText)[] {
  return passages.map((passage) => {
    const { title, heading } = passage;
    const file = library.findFileUrl(passage);
    const isNamed = heading && heading.toLowerCase() !== title.toLowerCase();
    return {
      ...passage,
      title: isNamed ? `${title}: ${heading}` : title,
      ...(file !== undefined && { file }),
    };
  });
}

/** Converts sources to fragments an answer can cite. */
export function toFragments(found: readonly SourceText[]): readonly Fragment[] {
  return found.map(({ id, title, text, place, url, file }) => ({
    id,
    content: text,
    source: { title, place, ...(url !== undefined && { url }), ...(file !== undefined && { file }) },
  }));
}

/** Shows the user a preview of each source, with query words highlighted. */
export function createSourcesHint(title: string, found: readonly SourceText[], query: string): UiHint {
  const props: SourcesProps = {
    title,
    sources: found.map(({ title: name, text, place, url, file }) => {
      const preview = createPreview(text);
      const cited = findQueryWords(preview, query);
      const links = { ...(url !== undefined && { url }), ...(file !== undefined && { file }) };
      return { title: name, place, ...links, text: preview, cited };
    }),
  };
  return { kind: "sources", props };
}

const maxPreviewLength = 400;

/** Stops at the first code block; the user can open the full source from the answer. */
function createPreview(text: string): string {
  const [prose = ""] = text.split("\n\n```", 1);
  const preview = prose.slice(0, maxPreviewLength).toWellFormed();
  return preview === text ? text : `${preview} …`;
}

const maxMarkedWords = 20;

/** Finds query words in the text, ignoring endings. */
function findQueryWords(text: string, query: string): string[] {
  const stems = getContentWords(query).map((word) => word.slice(0, Math.max(4, word.length - 3)));
  const words = new Set(text.match(/[\p{L}\p{N}_]+/gu));
  return [...words]
    .filter((word) => stems.some((stem) => word.toLowerCase().startsWith(stem)))
    .slice(0, maxMarkedWords);
}
