import { getDocumentProxy } from "unpdf";
import { buildSections, type Chapter } from "./build-sections.ts";
import type { ParsedDocument } from "./parsed-document.ts";
import { splitParagraphs } from "./text.ts";

const maxPages = 2000;

/** One chapter per page, so that a citation can open the page. Damaged pages are left out. */
export async function parse(bytes: Uint8Array): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes);
  const { numPages } = pdf;
  const chapters: Chapter[] = [];
  const errors: unknown[] = [];
  for (let number = 1; number <= Math.min(numPages, maxPages); number++) {
    try {
      chapters.push(await readPage(pdf, number));
    } catch (error) {
      errors.push(error);
    }
  }
  if (chapters.length === 0) throw errors[0];
  const { info } = await pdf.getMetadata();
  const title = "Title" in info && typeof info.Title === "string" ? info.Title.trim() : "";
  const notes = [
    ...(numPages > maxPages ? [`Only the first ${maxPages} of ${numPages} pages were read.`] : []),
    ...(errors.length > 0 ? [`${errors.length} of ${numPages} pages are damaged and were left out.`] : []),
  ];
  return {
    ...(title && { title }),
    sections: buildSections(chapters),
    ...(notes.length > 0 && { note: notes.join(" ") }),
  };
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function readPage(pdf: Pdf, number: number): Promise<Chapter> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  const blocks = splitParagraphs(joinItems(items)).map(joinLines);
  return { heading: `Page ${number}`, blocks, fragment: `page=${number}` };
}

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  return getDocumentProxy(bytes).catch((error: Error) => {
    throw error.name === "PasswordException" ? new Error("It is protected with a password.") : error;
  });
}

type TextItem = {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly transform: readonly number[];
  readonly height: number;
};

/** A gap of more than this many line heights separates paragraphs. */
const minGap = 1.6;

function joinItems(items: readonly object[]): string {
  let text = "";
  let lastLine: TextItem | undefined;
  for (const item of items) {
    if (!isTextItem(item)) continue;
    if (lastLine && text.endsWith("\n") && item.str.trim() !== "") {
      const gap = (lastLine.transform[5] ?? 0) - (item.transform[5] ?? 0);
      if (gap > minGap * Math.max(lastLine.height, item.height)) text += "\n";
    }
    text += item.str + (item.hasEOL ? "\n" : "");
    if (item.str.trim() !== "") lastLine = item;
  }
  return text;
}

const isTextItem = (item: object): item is TextItem => "str" in item;

/** Joins the lines of a paragraph, and the parts of a hyphenated word. */
const joinLines = (block: string): string =>
  block.replace(/(\p{Ll})-\n(?=\p{Ll})/gu, "$1").replace(/\s+/g, " ");
