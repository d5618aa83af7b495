import { Parser } from "htmlparser2";
import { buildSections, type Chapter } from "./build-sections.ts";
import { decodeText } from "./decode-text.ts";
import type { ParsedDocument } from "./parsed-document.ts";

const skippedTags = new Set(
  "head script style noscript template svg math nav iframe object select button form".split(" "),
);
const blockTags = new Set(
  (
    "address article aside blockquote body br caption dd details div dl dt figcaption figure footer header hr li main ol " +
    "p pre section summary table tbody thead tr ul"
  ).split(" "),
);
const headingTags = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const cellTags = new Set(["td", "th"]);
const rowTags = new Set(["table", "thead", "tbody", "tr", "caption"]);
/** Longer rows are split at their paragraphs: a table can also be the layout of a page. */
const maxRowLength = 400;

export async function parse(bytes: Uint8Array): Promise<ParsedDocument> {
  const { title, chapters } = parseHtml(decodeText(bytes));
  return { ...(title && { title }), sections: buildSections(chapters, { isLinkedByText: true }) };
}

/** Returns the text of a page by heading. Nothing in the page is loaded or run. */
export function parseHtml(html: string): { readonly title: string; readonly chapters: readonly Chapter[] } {
  const chapters: { heading: string; blocks: string[] }[] = [{ heading: "", blocks: [] }];
  let text = "";
  let title = "";
  let skippedDepth = 0;
  let cellDepth = 0;
  let isTitle = false;
  let isPreformatted = false;
  const closeBlock = () => {
    const block = isPreformatted ? text.trimEnd() : text.replace(/\s+/g, " ").trim().replace(/ ?\|$/, "");
    if (/[\p{L}\p{N}]/u.test(block)) chapters.at(-1)?.blocks.push(block);
    text = "";
  };
  const endBlock = (tag: string) => {
    if (cellDepth > 0 && !rowTags.has(tag) && text.length < maxRowLength) text += " ";
    else closeBlock();
  };
  const parser = new Parser({
    onopentagname(tag) {
      isTitle ||= tag === "title" && title === "";
      if (skippedTags.has(tag)) skippedDepth += 1;
      if (headingTags.has(tag)) closeBlock();
      else if (blockTags.has(tag)) endBlock(tag);
      if (cellTags.has(tag)) cellDepth += 1;
      isPreformatted ||= tag === "pre";
    },
    ontext(data) {
      if (isTitle) title += data;
      else if (skippedDepth === 0) text += data;
    },
    onclosetag(tag) {
      if (tag === "title") isTitle = false;
      if (skippedTags.has(tag)) skippedDepth -= 1;
      if (cellTags.has(tag)) {
        cellDepth -= 1;
        text += " | ";
      }
      if (headingTags.has(tag)) {
        chapters.push({ heading: text.replace(/\s+/g, " ").trim(), blocks: [] });
        text = "";
      } else if (blockTags.has(tag)) endBlock(tag);
      if (tag === "pre") isPreformatted = false;
    },
  });
  parser.end(html);
  closeBlock();
  return { title: title.replace(/\s+/g, " ").trim(), chapters };
}
