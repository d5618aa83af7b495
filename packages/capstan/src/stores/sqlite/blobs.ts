import type { Store } from "../../runtime/store.ts";
import type { Connection } from "./connection.ts";
import { ensureSession } from "./fact-log.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Text with lone surrogates cannot be encoded as UTF-8. */
type Form = "bytes" | "utf8" | "utf16le";
type BlobRow = {
  readonly media_type: string;
  readonly form: Form;
  readonly size: number;
  readonly data: Uint8Array;
};

export function createBlobs(
  connection: Connection,
  { read, write }: WorkQueue,
): Pick<Store, "putBlob" | "getBlob"> {
  return {
    putBlob: (sessionId, { mediaType, data }) =>
      write(() => {
        const session = ensureSession(connection, sessionId);
        const count = "SELECT count(*) AS count FROM blobs WHERE session = ?";
        const handle = `blob_${(connection.get<{ count: number }>(count, session)?.count ?? 0) + 1}`;
        const form = detectForm(data);
        const bytes = typeof data === "string" ? Buffer.from(data, form === "utf16le" ? form : "utf8") : data;
        const sql = "INSERT INTO blobs VALUES (?, ?, ?, ?, ?, ?)";
        connection.run(sql, session, handle, encodeText(mediaType), form, data.length, bytes);
        return handle;
      }),
    getBlob: (sessionId, handle) =>
      read(() => {
        const sql = `SELECT media_type, form, size, data FROM blobs
          WHERE session = (SELECT number FROM sessions WHERE id = ?) AND handle = ?`;
        const row = connection.get<BlobRow>(sql, encodeText(sessionId), encodeText(handle));
        return row && { mediaType: fromStoredText(row.media_type), size: row.size, data: decodeData(row) };
      }),
  };
}

function detectForm(data: string | Uint8Array): Form {
  if (typeof data !== "string") return "bytes";
  return data.isWellFormed() ? "utf8" : "utf16le";
}

function decodeData({ form, data }: BlobRow): string | Uint8Array {
  return form === "bytes" ? data : Buffer.from(data).toString(form);
}
