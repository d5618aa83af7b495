// The graph explorer on the user's own graphs. Each file is a graph; tables together are one.

import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import type { DataLoader, LoadedData, LoadRequest, SkippedItem } from "@capstan/server";
import { type AgentDefinition, AgentError, type Json } from "capstan";
import { formatCounts } from "capstan/sessions";
import { createCatalog, type GraphSource } from "./catalog.ts";
import { isNeo4jUrl, neo4jSchemes, readNeo4j } from "./data/neo4j.ts";
import type { GraphContent } from "./data/network-builder.ts";
import {
  graphExtensions,
  type ReadSettings,
  readGraph,
  readTables,
  tableExtensions,
} from "./data/read-graph.ts";
import { defineGraphAgent, type GraphSettings } from "./define-graph-agent.ts";
import { listTopics } from "./list-topics.ts";
import { countTypes, type Network } from "./network.ts";
import { openViews } from "./views.ts";

export type GraphLoaderOptions = GraphSettings & { readonly model: AgentDefinition["model"] };

/** Opens the graph explorer on files, folders or a Neo4j database. */
export function graphLoader(options: GraphLoaderOptions): DataLoader {
  const extensions = [...tableExtensions, ...graphExtensions];
  return {
    description: "graphs: CSV (nodes and edges, or one table), JSON, GraphML, GEXF, SQLite, Neo4j",
    extensions,
    acceptsFolders: true,
    schemes: neo4jSchemes,
    settings: {
      source: "column with the first node of an edge",
      target: "column with the second node",
      id: "column that identifies a node",
      directed: "true or false",
      tables: "tables of a database, such as people, knows",
    },
    load: (request) => loadGraphs(request, options),
  };
}

async function loadGraphs(request: LoadRequest, options: GraphLoaderOptions): Promise<LoadedData> {
  const { name, title, locations, folder } = request;
  const settings = parseSettings(request.settings);
  const skipped: SkippedItem[] = [];
  const parts = await listParts(locations, skipped);
  const { graphs, errors } = await readParts(parts, { ...request, settings }, skipped);
  const [first] = graphs;
  if (!first) throw errors[0] ?? createEmptyError(title);
  const sources = Object.fromEntries(
    graphs.map((network): [string, GraphSource] => [network.name, () => network]),
  );
  const context = {
    catalog: createCatalog(sources),
    views: openViews(join(folder, "views")),
    reads: "private",
  } as const;
  const agent = await defineGraphAgent(context, { ...options, name });
  const counts = {
    ...(graphs.length > 1 && { graphs: graphs.length }),
    nodes: sum(graphs, ({ nodes }) => nodes.length),
    edges: sum(graphs, ({ edges }) => edges.length),
  };
  return {
    agents: [agent],
    profile: {
      ...{ title, description: formatCounts(counts), suggestions: suggest(first) },
      topics: graphs.flatMap(listTopics),
    },
    report: () => ({ counts, skipped }),
  };
}

/** Something that becomes one graph. */
type Part = { readonly item: string; read(options: PartOptions): Promise<GraphContent> };
type PartOptions = { readonly settings: ReadSettings; readonly signal: AbortSignal };

async function listParts(locations: readonly string[], skipped: SkippedItem[]): Promise<Part[]> {
  const urls = locations.filter(isNeo4jUrl);
  const files = await listFiles(
    locations.filter((location) => !isNeo4jUrl(location)),
    skipped,
  );
  const tables = files.filter((file) => tableExtensions.includes(extname(file).toLowerCase()));
  const whole = files.filter((file) => graphExtensions.includes(extname(file).toLowerCase()));
  for (const file of files)
    if (!tables.includes(file) && !whole.includes(file))
      skipped.push({
        item: basename(file),
        reason: `"${extname(file)}" is not a format of graphs that can be read.`,
      });
  return [
    ...(tables.length > 0 ? [createTablePart(tables)] : []),
    ...whole.map((file) => ({
      item: basename(file),
      read: (options: PartOptions) => readGraph(file, options),
    })),
    ...urls.map((url) => ({ item: "Neo4j", read: (options: PartOptions) => readNeo4j(url, options) })),
  ];
}

const createTablePart = (files: readonly string[]): Part => ({
  item: files.map((file) => basename(file)).join(", "),
  read: (options) => readTables(files, options),
});

/** The files, and those directly in the folders. */
async function listFiles(locations: readonly string[], skipped: SkippedItem[]): Promise<string[]> {
  const files: string[] = [];
  for (const location of locations) {
    if (!(await stat(location)).isDirectory()) files.push(location);
    else files.push(...(await listFolder(location, skipped)));
  }
  return files;
}

async function listFolder(folder: string, skipped: SkippedItem[]): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const reason = findReason(entry);
    if (reason === undefined) files.push(join(folder, entry.name));
    else skipped.push({ item: entry.name, reason });
  }
  return files.sort();
}

function findReason(entry: Dirent): string | undefined {
  if (entry.isSymbolicLink()) return "Links are not followed.";
  if (entry.name.startsWith(".")) return "Hidden files and folders are not read.";
  if (entry.isDirectory()) return "Folders in the folder are not read.";
  return entry.isFile() ? undefined : "It is neither a file nor a folder.";
}

type ReadResult = { readonly graphs: readonly Network[]; readonly errors: readonly unknown[] };

/** A part that cannot be read is skipped. */
async function readParts(
  parts: readonly Part[],
  { settings, signal, onProgress }: PartOptions & Pick<LoadRequest, "onProgress">,
  skipped: SkippedItem[],
): Promise<ReadResult> {
  const graphs: Network[] = [];
  const errors: unknown[] = [];
  for (const [index, { item, read }] of parts.entries()) {
    signal.throwIfAborted();
    onProgress({ done: index, total: parts.length, item });
    try {
      const { network, problems } = await read({ settings, signal });
      if (network.nodes.length === 0) throw createEmptyError(item);
      graphs.push({ ...network, name: createName(network.title, graphs) });
      skipped.push(...problems.map((reason) => ({ item, reason })));
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
      skipped.push({ item, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  onProgress({ done: parts.length, total: parts.length });
  return { graphs, errors };
}

const createEmptyError = (item: string): AgentError =>
  new AgentError("file_invalid", `"${item}" has no graph.`);

/** A short name that the user can say. */
function createName(title: string, others: readonly Network[]): string {
  const name = title.trim().slice(0, 60).toWellFormed() || "graph";
  const taken = others.some((other) => other.name === name);
  return taken ? `${name} ${others.length + 1}` : name;
}

/** Throws `invalid_input` for a choice that means nothing: ignoring it would show another graph. */
function parseSettings({ source, target, id, directed, tables }: LoadRequest["settings"]): ReadSettings {
  return {
    source: toText(source),
    target: toText(target),
    id: toText(id),
    directed: parseDirection(directed),
    tables: parseNames(tables),
  };
}

function parseDirection(value: Json | undefined): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new AgentError(
    "invalid_input",
    `The setting "directed" is true or false, not ${JSON.stringify(value)}.`,
  );
}

/** A list, or names with commas between them. */
function parseNames(value: Json | undefined): readonly string[] | undefined {
  const names = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value.map(String) : [];
  const plain = names.map((name) => name.trim()).filter((name) => name !== "");
  return plain.length > 0 ? plain : undefined;
}

/** A column may be named like a number, such as 2020. */
const toText = (value: Json | undefined): string | undefined =>
  value === undefined || value === null || value === "" ? undefined : String(value);

const sum = (graphs: readonly Network[], count: (network: Network) => number): number =>
  graphs.reduce((total, network) => total + count(network), 0);

/** Questions that work on this graph. */
function suggest({ nodes }: Network): string[] {
  const types = countTypes(nodes).map(({ type }) => type);
  const type = types.find((word) => /^[\p{L} ]{3,30}$/u.test(word) && word !== "node");
  return [
    "How many nodes are there?",
    "What are some sample nodes?",
    ...(type === undefined ? [] : [`Color the ${type} nodes blue`]),
    "Who has the most connections?",
  ];
}
