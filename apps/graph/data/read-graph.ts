import { basename, extname } from "node:path";
import { AgentError } from "capstan";
import { detectEncoding } from "../../import/detect-encoding.ts";
import { parseInWorker } from "../../import/parse-in-worker.ts";
import { openFile, readBytes } from "../../import/read-bytes.ts";
import { addJsonGraph } from "./add-json-graph.ts";
import { createNetworkBuilder, defaultGraphLimits, type GraphContent } from "./network-builder.ts";
import type { SqliteInput } from "./parse-sqlite.ts";
import type { XmlGraph, XmlGraphInput } from "./parse-xml-graph.ts";
import { toProperties, withRelation, withTypeAndName } from "./properties.ts";
import { readCsvTable } from "./read-csv-table.ts";
import type { Table } from "./table.ts";
import { addTables, type TableSettings } from "./tables.ts";

export const tableExtensions: readonly string[] = [".csv", ".tsv"];
export const graphExtensions: readonly string[] = [
  ".json",
  ".graphml",
  ".gexf",
  ".sqlite",
  ".sqlite3",
  ".db",
];

/** How to read a graph, as far as the user has chosen. */
export type ReadSettings = TableSettings & {
  readonly directed?: boolean | undefined;
  /** Tables of a database. Default: all. */
  readonly tables?: readonly string[] | undefined;
};

export type ReadOptions = {
  readonly settings?: ReadSettings;
  readonly signal?: AbortSignal;
};

const maxBytes = 100_000_000;

/** Reads tables as one graph: one of edges, nodes and edges, or tables that refer to each other. */
export async function readTables(
  paths: readonly string[],
  { settings = {}, signal }: ReadOptions = {},
): Promise<GraphContent> {
  const tables: Table[] = [];
  for (const path of paths) tables.push(await readCsvTable(path, signal));
  return buildFromTables(tables, settings, toTitle(paths.at(-1) ?? ""));
}

function buildFromTables(tables: readonly Table[], settings: ReadSettings, title: string): GraphContent {
  const builder = createNetworkBuilder();
  addTables(builder, tables, settings);
  return builder.build({ title, isDirected: settings.directed ?? true });
}

/** Reads a file that has a whole graph. Throws `file_invalid` or `file_limit`. */
export async function readGraph(path: string, options: ReadOptions = {}): Promise<GraphContent> {
  const extension = extname(path).toLowerCase();
  switch (extension) {
    case ".json":
      return readJsonGraph(path, options);
    case ".graphml":
    case ".gexf":
      return readXmlGraph(path, options);
    case ".sqlite":
    case ".sqlite3":
    case ".db":
      return readSqlite(path, options);
    default: {
      const known = [...tableExtensions, ...graphExtensions].join(", ");
      throw new AgentError(
        "file_invalid",
        `A graph cannot be read from "${extension}" files; known are ${known}.`,
      );
    }
  }
}

/** For a file that is not read as a whole. */
async function checkSize(path: string): Promise<void> {
  const file = await openFile(path);
  const { size } = await file.stat().finally(() => file.close());
  if (size > maxBytes)
    throw new AgentError("file_limit", `The file is larger than ${maxBytes / 1_000_000} MB.`);
}

const toTitle = (path: string): string => basename(path, extname(path));

async function readText(path: string, signal?: AbortSignal): Promise<string> {
  const bytes = await readBytes(path, { maxBytes, signal });
  return new TextDecoder(detectEncoding(bytes)).decode(bytes);
}

async function readJsonGraph(path: string, { settings = {}, signal }: ReadOptions): Promise<GraphContent> {
  const builder = createNetworkBuilder();
  const value = parseJson(await readText(path, signal));
  const { title, isDirected } = withDepthError(() =>
    addJsonGraph(builder, value, { name: toTitle(path), settings }),
  );
  return builder.build({
    title: title ?? toTitle(path),
    isDirected: settings.directed ?? isDirected ?? true,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AgentError(
      "file_invalid",
      `It is not valid JSON: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  }
}

function withDepthError<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AgentError("file_invalid", "It is nested too deeply.", { cause: error });
  }
}

async function readXmlGraph(path: string, { settings = {}, signal }: ReadOptions): Promise<GraphContent> {
  const text = await readText(path, signal);
  const format = path.toLowerCase().endsWith(".gexf") ? "gexf" : "graphml";
  if (!/<graph[\s>]/u.test(text))
    throw new AgentError(
      "file_invalid",
      `It has no <graph>, so it is not ${format === "gexf" ? "GEXF" : "GraphML"}.`,
    );
  const input: XmlGraphInput = { text, format };
  const module = new URL("parse-xml-graph.ts", import.meta.url);
  const graph = await parseInWorker<XmlGraph>(module, input, {
    limits: { memoryMb: 1024 },
    ...(signal && { signal }),
  });
  const builder = createNetworkBuilder();
  for (const { id, attributes } of graph.nodes)
    builder.addNode(id, withTypeAndName(toProperties(Object.entries(attributes)), "node"), "a node");
  for (const { from, to, attributes } of graph.edges)
    builder.addEdge({ from, to, data: withRelation(toProperties(Object.entries(attributes))) }, "an edge");
  return builder.build({
    title: graph.title ?? toTitle(path),
    isDirected: settings.directed ?? graph.isDirected,
  });
}

async function readSqlite(path: string, { settings = {}, signal }: ReadOptions): Promise<GraphContent> {
  await checkSize(path);
  const input: SqliteInput = { path, tables: settings.tables, maxRows: defaultGraphLimits.edges };
  const module = new URL("parse-sqlite.ts", import.meta.url);
  const tables = await parseInWorker<Table[]>(module, input, {
    limits: { memoryMb: 512 },
    ...(signal && { signal }),
  });
  return buildFromTables(tables, settings, toTitle(path));
}
