import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { Network, NetworkEdge, NetworkNode, Properties } from "../network.ts";
import { type CsvRow, parseCsv } from "./csv.ts";

/** A JSON file with `nodes` and `edges`, a CSV file with one edge per row, or two CSV files. */
export type GraphFile = string | { readonly nodes: string; readonly edges: string };

/** The limit of the graph widget. */
const maxIdLength = 300;

/** Reads a graph. Errors name the file and the location. */
export async function readGraphFile(file: GraphFile): Promise<Network> {
  const main = typeof file === "string" ? file : file.edges;
  const { nodes, edges, isDirected = true, title = basename(main, extname(main)) } = await readContent(file);
  const known = new Set(nodes.map(({ id }) => id));
  const duplicateId = findDuplicate(nodes) ?? findDuplicate(edges);
  if (duplicateId !== undefined)
    throw new Error(`${main}: two nodes or two edges have the id "${duplicateId}".`);
  const long = nodes.find(({ id }) => id.length > maxIdLength);
  if (long)
    throw new Error(`${main}: the id "${long.id.slice(0, 20)}…" has more than ${maxIdLength} characters.`);
  for (const { id, from, to } of edges)
    for (const end of [from, to])
      if (!known.has(end)) throw new Error(`${main}: the edge "${id}" references the unknown node "${end}".`);
  return { name: "file", title, isDirected, nodes, edges };
}

function findDuplicate(members: readonly { readonly id: string }[]): string | undefined {
  const seen = new Set<string>();
  return members.find(({ id }) => seen.size === seen.add(id).size)?.id;
}

type Content = Pick<Network, "nodes" | "edges"> & Partial<Pick<Network, "isDirected" | "title">>;

async function readContent(file: GraphFile): Promise<Content> {
  if (typeof file !== "string") {
    const nodes = (await readRows(file.nodes, ["id"])).map(({ cells: { id = "", ...rest } }) => ({
      id,
      data: toProperties(rest),
    }));
    return { nodes, edges: await readEdges(file.edges) };
  }
  if (/\.json$/iu.test(file)) return readJsonContent(file);
  if (!/\.[ct]sv$/iu.test(file)) throw new Error(`${file}: a graph file must be .json, .csv or .tsv.`);
  const edges = await readEdges(file);
  const ids = new Set(edges.flatMap(({ from, to }) => [from, to]));
  return { nodes: [...ids].map((id) => ({ id, data: { type: "node", name: id } })), edges };
}

async function readRows(file: string, needed: readonly string[]): Promise<CsvRow[]> {
  const text = await readFile(file, "utf8");
  const { columns, rows } = withFileName(file, () => parseCsv(text));
  const missing = needed.filter((column) => !column.split("|").some((name) => columns.includes(name)));
  if (missing.length > 0) {
    const wanted = missing.map((column) => `"${column.replace("|", '" or "')}"`).join(" and ");
    throw new Error(`${file}: the header needs a column ${wanted}; it has ${columns.join(", ") || "none"}.`);
  }
  return rows;
}

function withFileName<Value>(file: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(`${file}, ${error instanceof Error ? error.message : error}.`);
  }
}

async function readEdges(file: string): Promise<NetworkEdge[]> {
  return (await readRows(file, ["from|source", "to|target"])).map(({ line, cells }, index) => {
    const { id, from, source, to, target, ...rest } = cells;
    const ends = { from: from || source || "", to: to || target || "" };
    if (!ends.from || !ends.to) throw new Error(`${file}, line ${line}: an edge needs both ends.`);
    return { id: id || `e${index + 1}`, ...ends, data: toProperties(rest) };
  });
}

/** Converts numeric cells and omits empty ones. */
function toProperties(cells: { readonly [column: string]: string | undefined }): Properties {
  const filled = Object.entries(cells).flatMap(([name, cell]) => (cell ? [[name, cell] as const] : []));
  return Object.fromEntries(
    filled.map(([name, cell]) => [name, /^-?\d+(?:\.\d+)?$/u.test(cell) ? Number(cell) : cell]),
  );
}

async function readJsonContent(file: string): Promise<Content> {
  const text = await readFile(file, "utf8");
  const value = withFileName(file, (): unknown => JSON.parse(text));
  const edges = isRecord(value) ? (value.edges ?? value.links) : undefined;
  if (!isRecord(value) || !Array.isArray(value.nodes) || !Array.isArray(edges))
    throw new Error(`${file}: the JSON needs a list "nodes" and a list "edges".`);
  const isDirected = value.isDirected ?? value.directed;
  return {
    nodes: value.nodes.map((node: unknown, at) => parseNode(node, `${file}: nodes[${at}]`)),
    edges: edges.map((edge, at) => parseEdge(edge, at, `${file}: edges[${at}]`)),
    ...(typeof isDirected === "boolean" && { isDirected }),
    ...(typeof value.title === "string" && { title: value.title }),
  };
}

function parseNode(value: unknown, location: string): NetworkNode {
  if (!isRecord(value) || !isId(value.id)) throw new Error(`${location} needs an "id".`);
  const { id, data, ...rest } = value;
  return { id: String(id), data: normalizeProperties({ ...rest, ...(isRecord(data) && data) }) };
}

function parseEdge(value: unknown, index: number, location: string): NetworkEdge {
  if (!isRecord(value)) throw new Error(`${location} must be an object.`);
  const { id = `e${index + 1}`, from, to, source = from, target = to, data, ...rest } = value;
  if (!isId(source) || !isId(target)) throw new Error(`${location} needs "from" and "to".`);
  const given = normalizeProperties({ ...rest, ...(isRecord(data) && data) });
  return { id: String(id), from: String(source), to: String(target), data: given };
}

function normalizeProperties(record: Record<string, unknown>): Properties {
  const definedEntries = Object.entries(record).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    definedEntries.map(([name, value]) => [
      name,
      typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? value
        : JSON.stringify(value),
    ]),
  );
}

const isId = (value: unknown): value is string | number =>
  (typeof value === "string" && value !== "") || typeof value === "number";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
