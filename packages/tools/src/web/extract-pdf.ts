import type { Extracted } from "./extract-task.ts";

const maxPages = 300;

/** Extracts the text of a PDF page by page. Ignores fonts and images and runs no scripts. */
export async function extractPdf(bytes: Uint8Array, maxCharacters: number): Promise<Extracted> {
  const { getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, stopAtErrors: true });
  const lastPage = Math.min(pdf.numPages, maxPages);
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= lastPage && length < maxCharacters; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    page.cleanup();
    length += text.length;
    pages.push(text.trim());
  }
  const skippedPages = pdf.numPages - pages.length;
  if (skippedPages > 0) pages.push(`… (${skippedPages} more pages were not read)`);
  return { text: pages.join("\n\n"), ...(await readTitle(pdf)) };
}

async function readTitle(pdf: {
  getMetadata(): Promise<{ readonly info: object }>;
}): Promise<{ readonly title?: string }> {
  const { info } = await pdf.getMetadata();
  const title = "Title" in info && typeof info.Title === "string" ? info.Title.trim().slice(0, 300) : "";
  return title === "" ? {} : { title };
}
