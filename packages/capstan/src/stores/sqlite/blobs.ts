import type { Store } from "../../store.ts";
import type { Connection } from "./connection.ts";
import { sessionNumber } from "./fact-log.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { Turns } from "./work-queue.ts";

/** Text with halves of characters has no UTF-8. */
type Form = "bytes" | "utf8" | "utf16le";
type Row = {
  readonly media_type: string;
  readonly form: Form;
  readonly size: number;
  readonly data: Uint8Array;
};

export function sqliteBlobs(
  connection: Connection,
  { read, write }: Turns,
): Pick<Store, "putBlob" | "getBlob"> {
  return {
    putBlob: (sessionId, { mediaType, data }) =>
      write(() => {
        const session = sessionNumber(connection, sessionId);
        const count = "SELECT count(*) AS count FROM blobs WHERE session = ?";
        const handle = `blob_${(connection.get<{ count: number }>(count, session)?.count ?? 0) + 1}`;
        const form = formOf(data);
        const bytes = typeof data === "string" ? Buffer.from(data, form === "utf16le" ? form : "utf8") : data;
        const sql = "INSERT INTO blobs VALUES (?, ?, ?, ?, ?, ?)";
        connection.run(sql, session, handle, toStored(mediaType), form, data.length, bytes);
        return handle;
      }),
    getBlob: (sessionId, handle) =>
      read(() => {
        const sql = `SELECT media_type, form, size, data FROM blobs
          WHERE session = (SELECT number FROM sessions WHERE id = ?) AND handle = ?`;
        const row = connection.get<Row>(sql, toStored(sessionId), toStored(handle));
        return row && { mediaType: fromStored(row.media_type), size: row.size, data: dataOf(row) };
      }),
  };
}

function formOf(data: string | Uint8Array): Form {
  if (typeof data !== "string") return "bytes";
  return data.isWellFormed() ? "utf8" : "utf16le";
}

function dataOf({ form, data }: Row): string | Uint8Array {
  return form === "bytes" ? data : Buffer.from(data).toString(form);
}
