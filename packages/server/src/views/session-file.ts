import type { Store } from "capstan";
import type { ExportFormat } from "capstan/sessions";

const types: Readonly<Record<ExportFormat, { readonly type: string; readonly ending: string }>> = {
  markdown: { type: "text/markdown; charset=utf-8", ending: "md" },
  json: { type: "application/json", ending: "json" },
  html: { type: "text/html; charset=utf-8", ending: "html" },
};

/** What was said may have been written to do harm: whoever opens it lets nothing in it run. */
const noScripts =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** An exported session as a file to be saved. */
export function exported(text: string, format: ExportFormat, title: string): Response {
  const { type, ending } = types[format];
  return attachment(text, type, `${fileName(title)}.${ending}`);
}

type StoredBlob = NonNullable<Awaited<ReturnType<Store["getBlob"]>>>;

/** What was too large for a result, as a file to be saved. */
export function blobFile({ data, mediaType }: StoredBlob, handle: string): Response {
  const isType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType);
  const bytes = typeof data === "string" ? data : Uint8Array.from(data);
  return attachment(bytes, isType ? mediaType : "application/octet-stream", fileName(handle));
}

function attachment(body: string | Uint8Array<ArrayBuffer>, type: string, name: string): Response {
  return new Response(body, {
    headers: {
      "content-type": type,
      "content-disposition": `attachment; filename="${name}"`,
      "content-security-policy": noScripts,
      "x-content-type-options": "nosniff",
    },
  });
}

/** A title as a name that every system takes, and no header breaks at. */
function fileName(title: string): string {
  const plain = title
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, "");
  return plain || "session";
}
