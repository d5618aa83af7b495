import type { RecordFilter, Records, StoredRecord } from "../../kernel/records.ts";
import {
  assertVersion,
  clampRowLimit,
  createVersionConflict,
  filterRecords,
  serializeRecord,
} from "../store-rules.ts";
import type { Database } from "./database.ts";
import { dueColumn, isDue, scopeColumn } from "./migrations.ts";
import type { PostgresRow } from "./pool.ts";
import { decodeJson, decodeText, encodeText } from "./stored-text.ts";

/** Creates the record storage, one row per version. A removed record leaves a row without a body that reserves its number. */
export function createRecords(database: Database, schema: string): Records {
  const table = `${schema}.records`;

  /** Inserts the next version and returns its row. Throws `position_conflict` if another writer was faster. */
  async function insertVersion(
    action: string,
    { kind, id, body, expected, replaces }: RecordWrite,
  ): Promise<PostgresRow> {
    const writer = crypto.randomUUID();
    const text = `SELECT * FROM ${schema}.put_record($1, $2, $3, $4, $5, $6)`;
    const values = [encodeText(kind), encodeText(id), body, expected, writer, replaces];
    const [latest] = await database.query(action, { text, values });
    if (latest?.writer === writer) return latest;
    const version = typeof latest?.body === "string" ? Number(latest.version) : 0;
    throw createVersionConflict({ kind, id, version }, expected);
  }

  async function findRecord(kind: string, id: string): Promise<StoredRecord | undefined> {
    const text = `SELECT * FROM ${table} WHERE kind = $1 AND id = $2 AND body IS NOT NULL
      ORDER BY version DESC LIMIT 1`;
    const values = [encodeText(kind), encodeText(id)];
    const [row] = await database.query("read a record", { text, values });
    return row && toStoredRecord(row);
  }

  return {
    getRecord: findRecord,
    async listRecords(kind, filter = {}) {
      const { where, values } = buildConditions(filter);
      const text = `SELECT * FROM ${table} AS one WHERE kind = $1 AND body IS NOT NULL AND NOT EXISTS
        (SELECT FROM ${table} WHERE kind = one.kind AND id = one.id AND version > one.version)${where}`;
      const rows = await database.query("list records", { text, values: [encodeText(kind), ...values] });
      return filterRecords(rows.map(toStoredRecord), filter);
    },
    async listRecordVersions(kind, id) {
      const text = `SELECT * FROM ${table} WHERE kind = $1 AND id = $2 AND body IS NOT NULL ORDER BY version`;
      const values = [encodeText(kind), encodeText(id)];
      return (await database.query("list record versions", { text, values })).map(toStoredRecord);
    },
    async putRecord({ kind, id, body, replaces }, expected) {
      const json = serializeRecord({ kind, id, body });
      const recordWrite = { kind, id, body: json, expected, replaces: replaces === true };
      return toStoredRecord(await insertVersion("store a record", recordWrite));
    },
    async removeRecord(kind, id, expected) {
      if (expected === 0)
        return assertVersion({ kind, id, version: (await findRecord(kind, id))?.version ?? 0 }, 0);
      await insertVersion("remove a record", { kind, id, body: null, expected, replaces: true });
    },
  };
}

/** The conditions that the database checks, so that it does not return all records of a kind. */
function buildConditions({ ids, scope, dueUntil, limit }: RecordFilter) {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (value: unknown) => `$${values.push(value) + 1}`;
  if (ids) conditions.push(` AND id = ANY (${add(ids.map(encodeText))}::text[])`);
  if (scope !== undefined) conditions.push(` AND ${scopeColumn} = ${add(encodeText(scope))}`);
  if (dueUntil !== undefined) {
    conditions.push(` AND ${isDue} AND ${dueColumn} <= ${add(dueUntil)} ORDER BY ${dueColumn}`);
    if (limit !== undefined) conditions.push(` LIMIT ${add(clampRowLimit(limit))}`);
  }
  return { where: conditions.join(""), values };
}

type RecordWrite = {
  readonly kind: string;
  readonly id: string;
  readonly body: string | null;
  readonly expected: number;
  readonly replaces: boolean;
};

function toStoredRecord({ kind, id, version, body, created_at, updated_at }: PostgresRow): StoredRecord {
  return {
    kind: decodeText(kind),
    id: decodeText(id),
    version: Number(version),
    body: decodeJson(body),
    createdAt: Number(created_at),
    updatedAt: Number(updated_at),
  };
}
