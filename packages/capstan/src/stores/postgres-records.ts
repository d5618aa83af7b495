import type { Records, StoredRecord } from "../store.ts";
import type { Database } from "./postgres-database.ts";
import type { PostgresRow } from "./postgres-pool.ts";
import { originalJson, originalText, storedText } from "./postgres-text.ts";
import { assertVersion, byId, recordJson } from "./record-limits.ts";

/**
 * Records, a row for each version. Of a removed one a row without a body stays, which holds its number. Two who write
 * at once want the same number, and the key of the table lets one have it. `writer` is new for each call: when the answer
 * was lost and the statement is repeated, the row it finds is known as its own.
 */
export function postgresRecords(database: Database, schema: string): Records {
  const table = `${schema}.records`;
  const insert = `WITH last AS (SELECT version, body IS NOT NULL AS lives, created_at FROM ${table}
        WHERE kind = $1 AND id = $2 ORDER BY version DESC LIMIT 1),
      clock AS (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now)
    INSERT INTO ${table} (kind, id, version, body, created_at, updated_at, writer)
      SELECT $1, $2, coalesce((SELECT version FROM last), 0) + 1, $3::text,
        coalesce((SELECT created_at FROM last WHERE lives), now), now, $5::uuid FROM clock
      WHERE coalesce((SELECT version FROM last WHERE lives), 0) = $4::float8
      ON CONFLICT DO NOTHING RETURNING *`;
  const replace = `WITH placed AS (${insert}), gone AS (DELETE FROM ${table} USING placed
      WHERE records.kind = $1 AND records.id = $2 AND records.version < placed.version)
    SELECT * FROM placed`;

  /** Gives the row that was put behind the last one, unless somebody else was faster. */
  async function put(what: string, { text, kind, id, body, expected }: Putting): Promise<PostgresRow> {
    const writer = crypto.randomUUID();
    const key = [storedText(kind), storedText(id)];
    const [placed] = await database.query(what, { text, values: [...key, body, expected, writer] });
    if (placed) return placed;
    const all = `SELECT * FROM ${table} WHERE kind = $1 AND id = $2 ORDER BY version DESC`;
    const rows = await database.query(what, { text: all, values: key });
    const own = rows.find((row) => row.writer === writer);
    if (own) return own;
    const version = rows[0]?.body === null ? 0 : Number(rows[0]?.version ?? 0);
    assertVersion({ kind, id, version }, expected);
    // Somebody wrote and removed it meanwhile: what was expected is there again.
    return put(what, { text, kind, id, body, expected });
  }

  async function record(kind: string, id: string): Promise<StoredRecord | undefined> {
    const text = `SELECT * FROM ${table} WHERE kind = $1 AND id = $2 AND body IS NOT NULL
      ORDER BY version DESC LIMIT 1`;
    const values = [storedText(kind), storedText(id)];
    const [row] = await database.query("read a record", { text, values });
    return row && recordOf(row);
  }

  return {
    record,
    async records(kind) {
      const text = `SELECT DISTINCT ON (id) * FROM ${table} WHERE kind = $1 ORDER BY id, version DESC`;
      const rows = await database.query("list the records of a kind", { text, values: [storedText(kind)] });
      return rows
        .filter(({ body }) => body !== null)
        .map(recordOf)
        .sort(byId);
    },
    async recordVersions(kind, id) {
      const text = `SELECT * FROM ${table} WHERE kind = $1 AND id = $2 AND body IS NOT NULL ORDER BY version`;
      const values = [storedText(kind), storedText(id)];
      return (await database.query("read the versions of a record", { text, values })).map(recordOf);
    },
    async putRecord({ kind, id, body, replaces }, expected) {
      const json = recordJson({ kind, id, body });
      const text = replaces ? replace : insert;
      return recordOf(await put("store a record", { text, kind, id, body: json, expected }));
    },
    async removeRecord(kind, id, expected) {
      if (expected === 0)
        return assertVersion({ kind, id, version: (await record(kind, id))?.version ?? 0 }, 0);
      await put("remove a record", { text: replace, kind, id, body: null, expected });
    },
  };
}

type Putting = {
  readonly text: string;
  readonly kind: string;
  readonly id: string;
  readonly body: string | null;
  readonly expected: number;
};

function recordOf({ kind, id, version, body, created_at, updated_at }: PostgresRow): StoredRecord {
  return {
    kind: originalText(kind),
    id: originalText(id),
    version: Number(version),
    body: originalJson(body),
    createdAt: Number(created_at),
    updatedAt: Number(updated_at),
  };
}
