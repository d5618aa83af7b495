import type { Fragment } from "capstan";
import { computeSha256 } from "../sha256.ts";
import type { Extracted } from "./extract-task.ts";

const maxSections = 20;
const maxPassageLength = 500;
const maxTitleLength = 200;

/** A page as the model reads it, and the passages that an answer can cite. */
type CitablePage = { readonly text: string; readonly contexts: readonly Fragment[] };

/**
 * Marks the sections of a page with ids, and returns a passage for each: the start of its text, and a link to its heading.
 * The number of passages is limited, because the model reads the list of their ids in every turn.
 */
export function toCitablePage({ title, text, anchors = {} }: Extracted, url: string): CitablePage {
  const pageTitle = (title || url).slice(0, maxTitleLength).toWellFormed();
  const contexts: Fragment[] = [];
  const lines = splitSections(text).flatMap(({ heading, lines: [first = "", ...rest] }) => {
    const passage = (heading === undefined ? [first, ...rest] : rest).join("\n").trim();
    if (passage === "" || contexts.length >= maxSections) return [first, ...rest];
    const anchor = heading !== undefined && Object.hasOwn(anchors, heading) ? anchors[heading] : undefined;
    const name = heading === undefined || heading === pageTitle ? pageTitle : `${pageTitle}: ${heading}`;
    const fragment = createFragment({
      content: truncate(passage, maxPassageLength),
      title: truncate(name, maxTitleLength),
      url: anchor === undefined ? url : `${url.split("#")[0]}#${encodeURIComponent(anchor)}`,
    });
    contexts.push(fragment);
    const mark = formatMark(fragment);
    return heading === undefined ? [mark, first, ...rest] : [first, mark, ...rest];
  });
  return { text: lines.join("\n"), contexts };
}

/** The line by which the model recognizes a passage. */
export function formatMark({ id }: Fragment): string {
  return `(passage ${id})`;
}

/** A passage with other content is another passage, so the id depends on the content. */
export function createFragment(passage: {
  readonly content: string;
  readonly title: string;
  readonly url: string;
}): Fragment {
  const { content, title, url } = passage;
  const digest = computeSha256(JSON.stringify([url, content]));
  return { id: `web_${digest.slice(0, 12)}`, content, source: { title, url }, isInResult: true };
}

/** `lines` begin with the line of the heading. */
type Section = { readonly heading?: string; readonly lines: readonly string[] };

/** Splits Markdown before its headings. */
function splitSections(markdown: string): readonly Section[] {
  const sections: { heading?: string; lines: string[] }[] = [{ lines: [] }];
  let isCode = false;
  for (const line of markdown.split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const heading = isCode ? undefined : /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ heading: toPlainHeading(heading), lines: [line] });
  }
  return sections.filter(({ lines }) => lines.length > 0);
}

/** Removes the Markdown of links, code and emphasis. */
function toPlainHeading(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*_\\]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

export function truncate(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;
}
