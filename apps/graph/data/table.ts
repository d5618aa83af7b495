import type { Properties } from "../network.ts";
import { parseText, toProperties } from "./properties.ts";

/** The values by column, without the empty ones. */
export type Row = ReadonlyMap<string, string | number | boolean>;

export type Table = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** All values are text, so that "5" may mean a number. */
  readonly isText?: boolean;
  /** The declared primary key, if it is one column. */
  readonly key?: string | undefined;
  /** The declared foreign keys. */
  readonly references?: readonly Reference[];
};

export type Reference = { readonly column: string; readonly table: string };

/** The properties of a row, without some columns. */
export function getProperties(
  { isText }: Table,
  row: Row,
  hiddenColumns: readonly (string | undefined)[],
): Properties {
  const fields = [...row].filter(([column]) => !hiddenColumns.includes(column));
  return toProperties(
    fields.map(([column, value]) => [column, isText && typeof value === "string" ? parseText(value) : value]),
  );
}

/** The value as an id. */
export function getId(row: Row, column: string | undefined): string | undefined {
  const value = column === undefined ? undefined : row.get(column);
  return value === undefined ? undefined : String(value).trim();
}

export const formatLocation = ({ name }: Table, index: number): string => `row ${index + 1} of "${name}"`;

/** Converts a list of records, such as `[{ source: "a", target: "b" }]`. */
export function toTable(name: string, records: readonly Readonly<Record<string, unknown>>[]): Table {
  const rows = records.map((record): Row => new Map(Object.entries(toProperties(Object.entries(record)))));
  return { name, columns: [...new Set(rows.flatMap((row) => [...row.keys()]))], rows };
}
