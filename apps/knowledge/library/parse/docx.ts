import mammoth from "mammoth";
import { buildSections } from "./build-sections.ts";
import { parseHtml } from "./html.ts";
import type { ParsedDocument } from "./parsed-document.ts";

const leaveOutImages = mammoth.images.imgElement(async () => ({ src: "" }));

/** Reads a Word document, whose archive the caller has checked. */
export async function parse(path: string): Promise<ParsedDocument> {
  const { value } = await mammoth.convertToHtml(
    { path },
    { convertImage: leaveOutImages, externalFileAccess: false },
  );
  return { sections: buildSections(parseHtml(value).chapters) };
}
