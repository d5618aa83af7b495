import type { Records, StoredRecord } from "../../store.ts";
import { assertVersion, byId, recordJson, versionConflict } from "../store-rules.ts";
import type { Database } from "./database.ts";
import type { PostgresRow } from "./pool.ts";
import { originalJson, originalText, storedText } from "./stored-text.ts";

/** Records, a row for each version. Of a removed one a row without a body stays, which holds its number. */
export function postgresRecords(database: Database, schema: string): Records {
  const table = `${schema}.records`;

  /** Gives the row that was put behind the expected one. */
  async function put(what: string, { kind, id, body, expected, replaces }: Putting): Promise<PostgresRow> {
    const writer = crypto.randomUUID();
    const text = `SELECT * FROM ${schema}.put_record($1, $2, $3, $4, $5, $6)`;
    const values = [storedText(kind), storedText(id), body, expected, writer, replaces];
    const [newest] = await database.query(what, { text, values });
    if (newest?.writer === writer) return newest;
    const version = typeof newest?.body === "string" ? Number(newest.version) : 0;
    throw versionConflict({ kind, id, version }, expected);
  }

  async function record(kind: string, id: string): Promise<StoredRecord | undefined> {
    const text = `SELECT * FROM ${table} WHERE kind = $1 AND id = $2 AND body IS NOT NULL
      ORDER BY version DESC LIMIT 1`;
    const values = [storedText(kind), storedText(id)];
    const [row] = await database.query("read a record", { text, values });
    return row && recordOf(row);
  }

  return {
    getRecord: record,
    async listRecords(kind) {
      const text = `SELECT DISTINCT ON (id) * FROM ${table} WHERE kind = $1 ORDER BY id, version DESC`;
      const rows = await database.query("list the records of a kind", { text, values: [storedText(kind)] });
      return rows
        .filter(({ body }) => body !== null)
        .map(recordOf)
        .sort(byId);
    },
    async listRecordVersions(kind, id) {
      const text = `SELECT * FROM ${table} WHERE kind = $1 AND id = $2 AND body IS NOT NULL ORDER BY version`;
      const values = [storedText(kind), storedText(id)];
      return (await database.query("read the versions of a record", { text, values })).map(recordOf);
    },
    async putRecord({ kind, id, body, replaces }, expected) {
      const json = recordJson({ kind, id, body });
      const given = { kind, id, body: json, expected, replaces: replaces === true };
      return recordOf(await put("store a record", given));
    },
    async removeRecord(kind, id, expected) {
      if (expected === 0)
        return assertVersion({ kind, id, version: (await record(kind, id))?.version ?? 0 }, 0);
      await put("remove a record", { kind, id, body: null, expected, replaces: true });
    },
  };
}

type Putting = {
  readonly kind: string;
  readonly id: string;
  readonly body: string | null;
  readonly expected: number;
  readonly replaces: boolean;
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
