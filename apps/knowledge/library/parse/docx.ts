import mammoth from "mammoth";
import { buildSections } from "./build-sections.ts";
import { parseHtml } from "./html.ts";
import type { ParsedDocument } from "./parsed-document.ts";

const leaveOutImages = mammoth.images.imgElement(async () => ({ src: "" }));

/** Reads a Word document, whose archive the caller has checked. */
export async function parse(bytes: Uint8Array): Promise<ParsedDocument> {
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) },
    {
      convertImage: leaveOutImages,
      externalFileAccess: false,
      styleMap: ["p[style-name='Title'] => h1:fresh"],
    },
  );
  return { sections: buildSections(parseHtml(value).chapters) };
}
