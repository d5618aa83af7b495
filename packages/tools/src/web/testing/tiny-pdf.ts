// A PDF for tests: one page per text, or broken content.
import { deflateSync } from "node:zlib";

/** Text, or raw content with the filters it claims to use. */
export type PdfPage = string | { readonly content: Buffer; readonly filter: string };

export function createPdf(pages: readonly PdfPage[], title?: string): Buffer {
  const pageIds = pages.map((_, index) => 4 + index * 2);
  const objects: Buffer[] = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(
      `<< /Type /Pages /Count ${pages.length} /Kids [${pageIds.map((id) => `${id} 0 R`).join(" ")}] >>`,
    ),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
    ...pages.flatMap((page, index) => [
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      ),
      encodeContent(page),
    ]),
    ...(title === undefined ? [] : [Buffer.from(`<< /Title (${title}) >>`)]),
  ];
  const info = title === undefined ? "" : `/Info ${objects.length} 0 R `;
  return joinObjects(objects, `${info}/Root 1 0 R`);
}

function encodeContent(page: PdfPage): Buffer {
  const { content, filter } =
    typeof page === "string"
      ? {
          content: deflateSync(Buffer.from(`BT /F1 12 Tf 50 700 Td (${page}) Tj ET`)),
          filter: "/FlateDecode",
        }
      : page;
  return Buffer.concat([
    Buffer.from(`<< /Length ${content.length} /Filter ${filter} >>\nstream\n`),
    content,
    Buffer.from("\nendstream"),
  ]);
}

function joinObjects(objects: readonly Buffer[], trailer: string): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    length += part.length;
    parts.push(part);
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} ${trailer} >>\n`),
  );
  parts.push(Buffer.from(`startxref\n${length}\n%%EOF\n`));
  return Buffer.concat(parts);
}
