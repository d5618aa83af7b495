import type { Store } from "../../store.ts";
import type { Database } from "./database.ts";
import { assertStorableId } from "./leases.ts";
import { originalJson, originalText, storedText } from "./stored-text.ts";

type Data = string | Uint8Array;

/** Blobs as bytes, with what they were: bytes, text, or a text that has no form in UTF-8 and is kept as JSON. */
export function postgresBlobs(database: Database, schema: string): Pick<Store, "putBlob" | "getBlob"> {
  return {
    async putBlob(sessionId, { mediaType, data }) {
      assertStorableId(sessionId);
      const text = `WITH session AS (
          INSERT INTO ${schema}.sessions AS known (id, blobs) VALUES ($1, 1)
            ON CONFLICT (id) DO UPDATE SET blobs = known.blobs + 1 RETURNING blobs)
        INSERT INTO ${schema}.blobs (session_id, handle, media_type, encoding, data)
          SELECT $1, 'blob_' || blobs, $2, $3, $4 FROM session RETURNING handle`;
      const { encoding, bytes } = encoded(data);
      const values = [storedText(sessionId), storedText(mediaType), encoding, bytes];
      const [row] = await database.query("keep a blob", { text, values });
      return String(row?.handle);
    },
    async getBlob(sessionId, handle) {
      const text = `SELECT media_type, encoding, data FROM ${schema}.blobs WHERE session_id = $1 AND handle = $2`;
      const values = [storedText(sessionId), storedText(handle)];
      const [row] = await database.query("read a blob", { text, values });
      if (!row) return undefined;
      const data = decoded(String(row.encoding), row.data as Uint8Array);
      return { mediaType: originalText(row.media_type), size: data.length, data };
    },
  };
}

function encoded(data: Data): { encoding: string; bytes: Uint8Array } {
  if (typeof data !== "string") return { encoding: "bytes", bytes: data };
  const encoding = data.isWellFormed() ? "utf8" : "json";
  return { encoding, bytes: new TextEncoder().encode(encoding === "utf8" ? data : JSON.stringify(data)) };
}

function decoded(encoding: string, bytes: Uint8Array): Data {
  if (encoding === "bytes") return new Uint8Array(bytes);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return encoding === "utf8" ? text : originalJson(text);
}
