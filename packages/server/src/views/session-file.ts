import type { Store } from "capstan";
import type { ExportFormat } from "capstan/sessions";

const exportTypes: Readonly<Record<ExportFormat, { readonly type: string; readonly ending: string }>> = {
  markdown: { type: "text/markdown; charset=utf-8", ending: "md" },
  json: { type: "application/json", ending: "json" },
  html: { type: "text/html; charset=utf-8", ending: "html" },
};

/** Session content is untrusted: nothing in an opened export may run. */
const noScriptPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** Creates a download of an exported session. */
export function createExportResponse(
  parts: AsyncIterator<string>,
  format: ExportFormat,
  title: string,
): Response {
  const { type, ending } = exportTypes[format];
  return createAttachment(toByteStream(parts), type, `${toFileName(title)}.${ending}`);
}

/** Reads the next part when the client has taken the previous one. */
function toByteStream(parts: AsyncIterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await parts.return?.();
    },
  });
}

type StoredBlob = NonNullable<Awaited<ReturnType<Store["getBlob"]>>>;

/** Creates a download of generated media, or of a result that was too large for the log. */
export function createBlobResponse({ data, mediaType }: StoredBlob, handle: string): Response {
  const isType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType);
  const bytes = typeof data === "string" ? data : Uint8Array.from(data);
  return createAttachment(bytes, isType ? mediaType : "application/octet-stream", toFileName(handle));
}

function createAttachment(body: BodyInit, type: string, name: string): Response {
  return new Response(body, {
    headers: {
      "content-type": type,
      "content-disposition": `attachment; filename="${name}"`,
      "content-security-policy": noScriptPolicy,
      "x-content-type-options": "nosniff",
    },
  });
}

/** Converts a title to a name that is safe in file systems and headers. */
function toFileName(title: string): string {
  const plain = title
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, "");
  return plain || "session";
}
