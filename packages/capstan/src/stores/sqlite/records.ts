import type { Records, StoredRecord } from "../../store.ts";
import { assertVersion, byId, recordJson } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { Turns } from "./work-queue.ts";

type Row = Omit<StoredRecord, "body"> & { readonly body: string };
type Last = { readonly version: number; readonly createdAt: number; readonly lives: number };

const columns = "kind, id, version, body, created_at AS createdAt, updated_at AS updatedAt";

/** Records, a row for each version. Of a removed one a row without a body stays, which holds its number. */
export function sqliteRecords(connection: Connection, { read, write }: Turns, now: () => number): Records {
  function versions(kind: string, id: string): StoredRecord[] {
    const sql = `SELECT ${columns} FROM records WHERE kind = ? AND id = ? AND body IS NOT NULL ORDER BY version`;
    return connection.all<Row>(sql, toStored(kind), toStored(id)).map(recordOf);
  }

  /** Puts a row behind the last one, unless somebody else was faster. */
  function insert({ kind, id }: Pick<StoredRecord, "kind" | "id">, body: string | null, expected: number) {
    const sql = `SELECT version, created_at AS createdAt, body IS NOT NULL AS lives FROM records
      WHERE kind = ? AND id = ? ORDER BY version DESC LIMIT 1`;
    const last = connection.get<Last>(sql, toStored(kind), toStored(id));
    assertVersion({ kind, id, version: last?.lives ? last.version : 0 }, expected);
    const [version, updatedAt] = [(last?.version ?? 0) + 1, now()];
    const createdAt = last?.lives ? last.createdAt : updatedAt;
    const place = [toStored(kind), toStored(id), version] as const;
    connection.run("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", ...place, body, createdAt, updatedAt);
    return { version, createdAt, updatedAt };
  }

  function removeBefore({ kind, id, version }: Pick<StoredRecord, "kind" | "id" | "version">): void {
    const sql = "DELETE FROM records WHERE kind = ? AND id = ? AND version < ?";
    connection.run(sql, toStored(kind), toStored(id), version);
  }

  function remove(kind: string, id: string, expected: number): void {
    if (expected === 0) {
      assertVersion({ kind, id, version: versions(kind, id).at(-1)?.version ?? 0 }, 0);
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
        const row = connection.get<Row>(sql, toStored(kind), toStored(id));
        return row && recordOf(row);
      }),
    listRecords: (kind) =>
      read(() => {
        const sql = `SELECT ${columns} FROM records AS one WHERE kind = ? AND body IS NOT NULL AND version =
          (SELECT max(version) FROM records WHERE kind = one.kind AND id = one.id)`;
        return connection.all<Row>(sql, toStored(kind)).map(recordOf).sort(byId);
      }),
    listRecordVersions: (kind, id) => read(() => versions(kind, id)),
    async putRecord({ kind, id, body, replaces }, expectedVersion) {
      const json = recordJson({ kind, id, body });
      const placed = await write(() => {
        const next = insert({ kind, id }, json, expectedVersion);
        if (replaces) removeBefore({ kind, id, version: next.version });
        return next;
      });
      return { kind, id, body: JSON.parse(json), ...placed };
    },
    async removeRecord(kind, id, expectedVersion) {
      await write(() => remove(kind, id, expectedVersion));
      // The pages of before are still in the write-ahead log. It goes as far as readers let it.
      await read(() => connection.all("PRAGMA wal_checkpoint(TRUNCATE)")).catch(() => undefined);
    },
  };
}

function recordOf({ kind, id, body, ...rest }: Row): StoredRecord {
  return { kind: fromStored(kind), id: fromStored(id), ...rest, body: JSON.parse(body) };
}
