import type { RecordFilter, Records, StoredRecord } from "../../kernel/records.ts";
import { assertVersion, clampRowLimit, filterRecords, serializeRecord } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import { dueColumn, isDue, scopeColumn } from "./migrations.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

type RecordRow = Omit<StoredRecord, "body"> & { readonly body: string };
type LatestVersion = { readonly version: number; readonly createdAt: number; readonly exists: number };

const columns = "kind, id, version, body, created_at AS createdAt, updated_at AS updatedAt";

/** Creates the record storage, one row per version. A removed record leaves a row without a body that reserves its number. */
export function createRecords(
  connection: Connection,
  { read, write }: WorkQueue,
  now: () => number,
): Records {
  function listVersions(kind: string, id: string): StoredRecord[] {
    const sql = `SELECT ${columns} FROM records WHERE kind = ? AND id = ? AND body IS NOT NULL ORDER BY version`;
    return connection.all<RecordRow>(sql, encodeText(kind), encodeText(id)).map(toStoredRecord);
  }

  /** Inserts the next version. Throws `position_conflict` if another writer was faster. */
  function insert({ kind, id }: Pick<StoredRecord, "kind" | "id">, body: string | null, expected: number) {
    const sql = `SELECT version, created_at AS createdAt, body IS NOT NULL AS "exists" FROM records
      WHERE kind = ? AND id = ? ORDER BY version DESC LIMIT 1`;
    const latest = connection.get<LatestVersion>(sql, encodeText(kind), encodeText(id));
    assertVersion({ kind, id, version: latest?.exists ? latest.version : 0 }, expected);
    const [version, updatedAt] = [(latest?.version ?? 0) + 1, now()];
    const createdAt = latest?.exists ? latest.createdAt : updatedAt;
    const key = [encodeText(kind), encodeText(id), version] as const;
    connection.run("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", ...key, body, createdAt, updatedAt);
    return { version, createdAt, updatedAt };
  }

  function removeBefore({ kind, id, version }: Pick<StoredRecord, "kind" | "id" | "version">): void {
    const sql = "DELETE FROM records WHERE kind = ? AND id = ? AND version < ?";
    connection.run(sql, encodeText(kind), encodeText(id), version);
  }

  function remove(kind: string, id: string, expected: number): void {
    if (expected === 0) {
      assertVersion({ kind, id, version: listVersions(kind, id).at(-1)?.version ?? 0 }, 0);
      return;
    }
    const { version } = insert({ kind, id }, null, expected);
    removeBefore({ kind, id, version });
    connection.exec("PRAGMA incremental_vacuum");
  }

  return {
    getRecord: (kind, id) =>
      read(() => {
        const sql = `SELECT ${columns} FROM records WHERE kind = ? AND id = ? AND body IS NOT NULL
          ORDER BY version DESC LIMIT 1`;
        const row = connection.get<RecordRow>(sql, encodeText(kind), encodeText(id));
        return row && toStoredRecord(row);
      }),
    listRecords: (kind, filter = {}) =>
      read(() => {
        const { where, values } = buildConditions(filter);
        const sql = `SELECT ${columns} FROM records AS one WHERE kind = ? AND body IS NOT NULL AND version =
          (SELECT max(version) FROM records WHERE kind = one.kind AND id = one.id)${where}`;
        const rows = connection.all<RecordRow>(sql, encodeText(kind), ...values);
        return filterRecords(rows.map(toStoredRecord), filter);
      }),
    listRecordVersions: (kind, id) => read(() => listVersions(kind, id)),
    async putRecord({ kind, id, body, replaces }, expectedVersion) {
      const json = serializeRecord({ kind, id, body });
      const inserted = await write(() => {
        const next = insert({ kind, id }, json, expectedVersion);
        if (replaces) removeBefore({ kind, id, version: next.version });
        return next;
      });
      return { kind, id, body: JSON.parse(json), ...inserted };
    },
    async removeRecord(kind, id, expectedVersion) {
      await write(() => remove(kind, id, expectedVersion));
      // The deleted pages are still in the write-ahead log, so truncate it unless a reader still needs it.
      await read(() => connection.all("PRAGMA wal_checkpoint(TRUNCATE)")).catch(() => undefined);
    },
  };
}

/** The conditions that the database checks, so that it does not return all records of a kind. */
function buildConditions({ ids, scope, dueUntil, limit }: RecordFilter) {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  if (ids) {
    conditions.push(" AND id IN (SELECT value FROM json_each(?))");
    values.push(JSON.stringify(ids.map(encodeText)));
  }
  if (scope !== undefined) {
    conditions.push(` AND ${scopeColumn} = ?`);
    values.push(encodeText(scope));
  }
  if (dueUntil !== undefined) {
    conditions.push(` AND ${isDue} AND ${dueColumn} <= ? ORDER BY ${dueColumn}`);
    values.push(dueUntil);
    if (limit !== undefined) {
      conditions.push(" LIMIT ?");
      values.push(clampRowLimit(limit));
    }
  }
  return { where: conditions.join(""), values };
}

function toStoredRecord({ kind, id, body, ...rest }: RecordRow): StoredRecord {
  return { kind: fromStoredText(kind), id: fromStoredText(id), ...rest, body: JSON.parse(body) };
}
