// Runs in a worker: reads the tables of an SQLite database, which may be hostile.

import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import type { Reference, Row, Table } from "./table.ts";

export type SqliteInput = {
  readonly path: string;
  /** Only these tables. Default: all. */
  readonly tables?: readonly string[] | undefined;
  readonly maxRows: number;
};

export function parse({ path, tables: chosen, maxRows }: SqliteInput): Table[] {
  const database = new DatabaseSync(path, { readOnly: true, enableForeignKeyConstraints: false });
  try {
    // Functions in the schema of a foreign file are not trusted.
    database.exec("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON");
    // Neither views nor virtual tables: reading them runs what the file says.
    const names = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE name IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table') ORDER BY rowid",
      )
      .all()
      .map(({ name }) => String(name))
      .filter((name) => !name.startsWith("sqlite_"));
    const missing = chosen?.find((name) => !names.includes(name));
    if (missing !== undefined)
      throw new Error(`There is no table "${missing}". The tables are: ${names.join(", ")}.`);
    let left = maxRows;
    return (chosen ?? names).map((name) => {
      const table = readTable(database, name, left);
      left -= table.rows.length;
      return table;
    });
  } finally {
    database.close();
  }
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function readTable(database: DatabaseSync, name: string, maxRows: number): Table {
  const info = database.prepare(`PRAGMA table_info(${quote(name)})`).all();
  const keys = info.filter(({ pk }) => Number(pk) > 0);
  const columns = info.map((column) => String(column.name));
  // Without generated columns, which `table_info` leaves out: the file says how to compute them.
  const statement = database.prepare(`SELECT ${columns.map(quote).join(", ")} FROM ${quote(name)}`);
  statement.setReadBigInts(true);
  const rows: Row[] = [];
  for (const record of statement.iterate()) {
    if (rows.length >= maxRows)
      throw new Error(
        `The tables have more than ${maxRows} rows. Choose some of them with the setting "tables".`,
      );
    rows.push(toRow(record));
  }
  return {
    name,
    columns,
    rows,
    ...(keys.length === 1 && { key: String(keys[0]?.name) }),
    references: listReferences(database, name),
  };
}

function listReferences(database: DatabaseSync, name: string): Reference[] {
  const keys = database.prepare(`PRAGMA foreign_key_list(${quote(name)})`).all();
  // A key of several columns has several rows with one id.
  const single = keys.filter(({ id }) => keys.filter((other) => other.id === id).length === 1);
  return single.map(({ from, table }) => ({ column: String(from), table: String(table) })).toReversed();
}

function toRow(record: Record<string, SQLOutputValue>): Row {
  const fields = Object.entries(record).flatMap(([column, value]): [string, string | number][] => {
    // Blobs are pictures and the like.
    if (value === null || value === "" || value instanceof Uint8Array) return [];
    if (typeof value !== "bigint") return [[column, value]];
    const number = Number(value);
    return [[column, Number.isSafeInteger(number) ? number : String(value)]];
  });
  return new Map(fields);
}
