import type { Extracted } from "./extract-task.ts";

const mostPages = 300;

/** The text of a PDF, page by page. Fonts and images are not looked at, scripts in it do not run. */
export async function extractPdf(bytes: Uint8Array, maxCharacters: number): Promise<Extracted> {
  const { getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, stopAtErrors: true });
  const last = Math.min(pdf.numPages, mostPages);
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= last && length < maxCharacters; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    page.cleanup();
    length += text.length;
    pages.push(text.trim());
  }
  const rest = pdf.numPages - pages.length;
  if (rest > 0) pages.push(`… (${rest} more pages were not read)`);
  return { text: pages.join("\n\n"), ...(await titleOf(pdf)) };
}

async function titleOf(pdf: {
  getMetadata(): Promise<{ readonly info: object }>;
}): Promise<{ readonly title?: string }> {
  const { info } = await pdf.getMetadata();
  const title = "Title" in info && typeof info.Title === "string" ? info.Title.trim().slice(0, 300) : "";
  return title === "" ? {} : { title };
}
