// Tables that refer to each other, as in a database: rows become nodes, and references become edges.

import type { Properties } from "../network.ts";
import { toSingular } from "../to-singular.ts";
import type { NetworkBuilder } from "./network-builder.ts";
import { withRelation, withTypeAndName } from "./properties.ts";
import { formatLocation, getId, getProperties, type Reference, type Row, type Table } from "./table.ts";

/** A reference from a row of one table to a row of another. */
export type TableReference = Reference & { readonly from: Table; readonly to: Table };

/** The declared references and, where a table declares none, those that the names of columns suggest: `owner_id`. */
export function findReferences(tables: readonly Table[]): readonly TableReference[] {
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const bySingular = new Map(tables.map((table) => [toSingular(table.name.toLowerCase()), table]));
  return tables.flatMap((from) => {
    const declared = from.references ?? [];
    const references = declared.length > 0 ? declared : guessReferences(from, bySingular);
    return references.flatMap(({ column, table }) => {
      const to = byName.get(table.toLowerCase());
      return to && getKey(to) !== undefined ? [{ column, table, from, to }] : [];
    });
  });
}

function guessReferences(from: Table, bySingular: ReadonlyMap<string, Table>): readonly Reference[] {
  return from.columns.flatMap((column) => {
    const [, noun] = /^(.+?)[\s_-]?id$/iu.exec(column) ?? [];
    const to = noun === undefined ? undefined : bySingular.get(toSingular(noun.toLowerCase()));
    return to && column !== getKey(from) ? [{ column, table: to.name }] : [];
  });
}

/** The declared key, or the column `id`, or `person_id` of the table "people". */
function getKey({ key, columns, name }: Table): string | undefined {
  const own = [`id`, `${toSingular(name)}_id`, `${toSingular(name)}id`].map((candidate) =>
    candidate.toLowerCase(),
  );
  return key ?? columns.find((column) => own.includes(column.toLowerCase()));
}

export function addRelatedTables(
  builder: NetworkBuilder,
  tables: readonly Table[],
  references: readonly TableReference[],
): void {
  for (const table of tables) {
    const own = references.filter(({ from }) => from === table);
    const [first, second] = own;
    const isReferenced = references.some(({ to }) => to === table);
    if (first && second && own.length === 2 && !isReferenced && !hasName(table))
      addJoinTable(builder, first, second);
    else addRows(builder, table, own);
  }
}

const hasName = ({ columns }: Table): boolean =>
  columns.some((column) => /^(?:name|title|label)$/iu.test(column));

/** A table that only joins two others is a kind of edge. */
function addJoinTable(builder: NetworkBuilder, source: TableReference, target: TableReference): void {
  const table = source.from;
  const hidden = [source.column, target.column, getKey(table)];
  for (const [index, row] of table.rows.entries()) {
    const from = findNodeId(source.to, row, source.column);
    const to = findNodeId(target.to, row, target.column);
    const data = withRelation(getProperties(table, row, hidden), table.name);
    builder.addEdge({ from, to, data }, formatLocation(table, index));
  }
}

function addRows(builder: NetworkBuilder, table: Table, references: readonly TableReference[]): void {
  const key = getKey(table);
  for (const [index, row] of table.rows.entries()) {
    const id = findNodeId(table, row, key) ?? `${table.name}:row ${index + 1}`;
    builder.addNode(id, toNodeData(table, row, [key, ...references.map(({ column }) => column)]), "");
    for (const { column, to } of references) {
      const target = findNodeId(to, row, column);
      // An empty reference is no edge.
      if (target) builder.addEdge({ from: id, to: target, data: { type: toRelation(column) } }, "");
    }
  }
}

/** The type is the table; a column of the same name is renamed. */
function toNodeData(table: Table, row: Row, hidden: readonly (string | undefined)[]): Properties {
  const type = toSingular(table.name);
  const { type: ownType, ...data } = getProperties(table, row, hidden);
  return withTypeAndName(
    { ...data, ...(ownType !== undefined && { [`${type}_type`]: ownType }), type },
    type,
  );
}

/** Rows of two tables may have the same key. */
function findNodeId(table: Table, row: Row, column: string | undefined): string | undefined {
  const id = getId(row, column);
  return id === undefined ? undefined : `${table.name}:${id}`;
}

const toRelation = (column: string): string => column.replace(/[\s_-]?id$/iu, "");
