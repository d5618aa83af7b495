import type { Store } from "../../runtime/store.ts";
import type { Queries } from "./database.ts";
import { assertStorableId } from "./leases.ts";
import { decodeJson, decodeText, encodeText } from "./stored-text.ts";

type BlobData = string | Uint8Array;

/** Creates the blob storage. Blobs are stored as bytes with their encoding: bytes, UTF-8, or JSON for text with lone surrogates. */
export function createBlobs(database: Queries, schema: string): Pick<Store, "putBlob" | "getBlob"> {
  return {
    async putBlob(sessionId, { mediaType, data }) {
      assertStorableId(sessionId);
      const text = `WITH session AS (
          INSERT INTO ${schema}.sessions AS known (id, blobs, bytes) VALUES ($1, 1, octet_length($4::bytea))
            ON CONFLICT (id) DO UPDATE SET blobs = known.blobs + 1, bytes = known.bytes + excluded.bytes
            RETURNING blobs)
        INSERT INTO ${schema}.blobs (session_id, handle, media_type, encoding, data)
          SELECT $1, 'blob_' || blobs, $2, $3, $4::bytea FROM session RETURNING handle`;
      const { encoding, bytes } = encodeData(data);
      const values = [encodeText(sessionId), encodeText(mediaType), encoding, bytes];
      const [row] = await database.query("store a blob", { text, values });
      return String(row?.handle);
    },
    async getBlob(sessionId, handle) {
      const text = `SELECT media_type, encoding, data FROM ${schema}.blobs WHERE session_id = $1 AND handle = $2`;
      const values = [encodeText(sessionId), encodeText(handle)];
      const [row] = await database.query("read a blob", { text, values });
      if (!row) return undefined;
      const data = decodeData(String(row.encoding), row.data as Uint8Array);
      return { mediaType: decodeText(row.media_type), size: data.length, data };
    },
  };
}

function encodeData(data: BlobData): { encoding: string; bytes: Uint8Array } {
  if (typeof data !== "string") return { encoding: "bytes", bytes: data };
  const encoding = data.isWellFormed() ? "utf8" : "json";
  return { encoding, bytes: new TextEncoder().encode(encoding === "utf8" ? data : JSON.stringify(data)) };
}

function decodeData(encoding: string, bytes: Uint8Array): BlobData {
  if (encoding === "bytes") return new Uint8Array(bytes);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return encoding === "utf8" ? text : decodeJson(text);
}
