// A graph from tables: CSV files, lists of records in JSON, or a database. Either a table has a source and a target column,
// or tables refer to each other.

import { AgentError, suggestName } from "capstan";
import { toSingular } from "../to-singular.ts";
import type { NetworkBuilder } from "./network-builder.ts";
import { withRelation, withTypeAndName } from "./properties.ts";
import { addRelatedTables, findReferences } from "./related-tables.ts";
import { formatLocation, getId, getProperties, type Table } from "./table.ts";

/** The columns that the user has chosen. Others are guessed from the names of the columns. */
export type TableSettings = {
  readonly source?: string | undefined;
  readonly target?: string | undefined;
  readonly id?: string | undefined;
};

type Ends = { readonly source: string; readonly target: string };

/** Adds the nodes and edges of tables. Throws `file_invalid` with the names of the columns if it cannot guess them. */
export function addTables(builder: NetworkBuilder, tables: readonly Table[], settings: TableSettings): void {
  const edgeTables = tables.flatMap((table) => {
    const ends = findEnds(table, settings, tables.length === 1);
    return ends ? [{ table, ends }] : [];
  });
  if (edgeTables.length === 0) {
    const related = findReferences(tables);
    if (related.length === 0) throw createColumnError(tables, settings);
    addRelatedTables(builder, tables, related);
    return;
  }
  const referredIds = new Set(edgeTables.flatMap(({ table, ends }) => listEnds(table, ends)));
  const nodeTables = tables
    .filter((table) => !edgeTables.some((edges) => edges.table === table))
    .flatMap((table) => {
      const key = findKey(table, referredIds, settings);
      if (key === undefined) builder.addProblem(`No edge refers to a row of the table "${table.name}".`);
      return key === undefined ? [] : [{ table, key }];
    });
  for (const { table, key } of nodeTables) addNodeTable(builder, table, key);
  for (const { table, ends } of edgeTables)
    addEdgeTable(builder, table, { ends, isWhole: nodeTables.length === 0 });
}

const listEnds = ({ rows }: Table, { source, target }: Ends): (string | undefined)[] =>
  rows.flatMap((row) => [getId(row, source), getId(row, target)]);

const endNames: readonly (readonly [source: string, target: string])[] = [
  ["source", "target"],
  ["from", "to"],
  ["src", "dst"],
  ["start", "end"],
  ["subject", "object"],
  ["parent", "child"],
  ["follower", "followee"],
  ["sender", "recipient"],
  ["sender", "receiver"],
  ["caller", "callee"],
  ["node1", "node2"],
  ["node_1", "node_2"],
  ["u", "v"],
];

function findEnds(table: Table, { source, target }: TableSettings, isOnly: boolean): Ends | undefined {
  if (source !== undefined && target !== undefined) {
    const isHere = [source, target].every((column) => table.columns.includes(column));
    return isHere ? { source, target } : undefined;
  }
  // ":START_ID" is the header of Neo4j's exports.
  const find = (name: string): string | undefined =>
    table.columns.find((column) => column.toLowerCase().replace(/^:|[\s_-]?id$/gu, "") === name);
  for (const [from, to] of endNames) {
    const [first, second] = [find(from), find(to)];
    if (first !== undefined && second !== undefined) return { source: first, target: second };
  }
  const [first, second, ...others] = table.columns;
  // A declared key says that the rows are nodes.
  const isPair = isOnly && !table.key && first !== undefined && second !== undefined && others.length === 0;
  return isPair ? { source: first, target: second } : undefined;
}

function createColumnError(tables: readonly Table[], { source, target }: TableSettings): AgentError {
  const listed = tables
    .map(({ name, columns }) => `"${name}" has ${columns.join(", ") || "no columns"}`)
    .join("; ");
  const columns = tables.flatMap((table) => table.columns);
  const unknown = [source, target].find((column) => column !== undefined && !columns.includes(column));
  const problem =
    unknown === undefined
      ? "No columns look like the two ends of an edge."
      : `There is no column "${unknown}".${suggestName(unknown, columns)}`;
  return new AgentError(
    "file_invalid",
    `${problem} Choose them with the settings "source" and "target". The table ${listed}.`,
  );
}

function addNodeTable(builder: NetworkBuilder, table: Table, key: string): void {
  const fallbackType = isGenericName(table.name) ? "node" : toSingular(table.name);
  // A key such as "name" is also a property.
  const hidden = /^(?:name|label|title)$/iu.test(key) ? [] : [key];
  for (const [index, row] of table.rows.entries()) {
    const data = withTypeAndName(getProperties(table, row, hidden), fallbackType);
    builder.addNode(getId(row, key), data, formatLocation(table, index));
  }
}

/** The column that identifies nodes is the one that the edges refer to most. */
function findKey(
  { columns, rows }: Table,
  referredIds: ReadonlySet<string | undefined>,
  { id }: TableSettings,
): string | undefined {
  if (id !== undefined && columns.includes(id)) return id;
  const countMatches = (column: string): number =>
    rows.filter((row) => row.has(column) && referredIds.has(getId(row, column))).length;
  const [best] = columns
    .map((column) => ({ column, count: countMatches(column) }))
    .toSorted((left, right) => right.count - left.count);
  return best && best.count > 0 ? best.column : undefined;
}

type EdgeTableOptions = {
  readonly ends: Ends;
  /** There are no tables of nodes: the ends of the edges are the nodes. */
  readonly isWhole: boolean;
};

function addEdgeTable(builder: NetworkBuilder, table: Table, { ends, isWhole }: EdgeTableOptions): void {
  const { source, target } = ends;
  const addEnd = (end: string, column: string): void => {
    if (!builder.hasNode(end)) builder.addNode(end, { type: toNodeType(column), name: end }, "");
  };
  const relation = isGenericName(table.name) ? undefined : table.name;
  for (const [index, row] of table.rows.entries()) {
    const [from, to] = [getId(row, source), getId(row, target)];
    if (isWhole && from && to) {
      addEnd(from, source);
      addEnd(to, target);
    }
    const data = withRelation(getProperties(table, row, [source, target]), relation);
    builder.addEdge({ from, to, data }, formatLocation(table, index));
  }
}

/** "person" for a column `person_id`; nothing special for `source`. */
function toNodeType(column: string): string {
  const plain = column.toLowerCase().replace(/^:|[\s_-]?id$/gu, "");
  return endNames.flat().includes(plain) || plain === "" ? "node" : toSingular(plain);
}

const isGenericName = (name: string): boolean =>
  /^(?:nodes?|vertices|edges?|links?|relations?(?:hips)?|data|graph|table|records?|items?)$/iu.test(name);
