// Reads the common JSON forms of a graph: nodes with edges, links or relationships (d3, vis.js, networkx, graphology, JSON
// Graph Format), the elements of Cytoscape, lists of neighbors by node, and a plain list of records.

import { AgentError, isRecord } from "capstan";
import type { Properties } from "../network.ts";
import type { NetworkBuilder } from "./network-builder.ts";
import { toProperties, withRelation, withTypeAndName } from "./properties.ts";
import { toTable } from "./table.ts";
import { addTables, type TableSettings } from "./tables.ts";

type JsonRecord = Readonly<Record<string, unknown>>;
type Lists = { readonly nodes: readonly unknown[]; readonly edges: readonly unknown[] };

export type JsonGraphOptions = { readonly name: string; readonly settings: TableSettings };

/** Adds the graph to the builder. Throws `file_invalid` for an unknown form. */
export function addJsonGraph(
  builder: NetworkBuilder,
  value: unknown,
  { name, settings }: JsonGraphOptions,
): { readonly title?: string | undefined; readonly isDirected?: boolean | undefined } {
  const lists = findLists(value);
  if (lists) {
    addLists(builder, lists);
    return { title: findTitle(value), isDirected: findDirection(value) };
  }
  const records = isRecordList(value) ? value : undefined;
  if (!records)
    throw new AgentError(
      "file_invalid",
      'The JSON has no graph. It needs lists "nodes" and "edges", or a list of records with a source and a target.',
    );
  addTables(builder, [toTable(name, records)], settings);
  return {};
}

function findLists(value: unknown): Lists | undefined {
  if (Array.isArray(value)) return findElements(value);
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value.elements)) return findElements(value.elements);
  const graph = [value.elements, value.graph].filter(isRecord).find((part) => "nodes" in part) ?? value;
  const edges = graph.edges ?? graph.links ?? graph.relationships;
  if (graph.nodes !== undefined && Array.isArray(edges)) return { nodes: listNodes(graph.nodes), edges };
  return findAdjacency(graph);
}

/** A list of nodes, or nodes by id. */
const listNodes = (nodes: unknown): readonly unknown[] =>
  Array.isArray(nodes)
    ? nodes
    : isRecord(nodes)
      ? Object.entries(nodes).map(([id, node]) => ({ id, ...(isRecord(node) && node) }))
      : [];

/** Cytoscape's list, in which nodes and edges are mixed. */
function findElements(elements: readonly unknown[]): Lists | undefined {
  const records = elements.filter((element) => isRecord(element) && isRecord(element.data));
  if (records.length === 0 || records.length < elements.length) return undefined;
  const isEdge = (element: unknown): boolean =>
    isRecord(element) && isRecord(element.data) && "source" in element.data;
  return {
    nodes: records.filter((element) => !isEdge(element)),
    edges: records.filter(isEdge),
  };
}

/** `{ "a": ["b", "c"] }`: the neighbors of each node. */
function findAdjacency(value: JsonRecord): Lists | undefined {
  const entries = Object.entries(value);
  if (entries.length === 0 || !entries.every(([, list]) => isIdList(list))) return undefined;
  const edges = entries.flatMap(([source, list]) =>
    (isIdList(list) ? list : []).map((target) => ({ source, target })),
  );
  const ids = new Set(edges.flatMap(({ source, target }) => [source, String(target)]));
  return { nodes: [...new Set([...Object.keys(value), ...ids])], edges };
}

const isIdList = (value: unknown): value is readonly (string | number)[] =>
  Array.isArray(value) && value.every((id) => toId(id) !== undefined);

function addLists(builder: NetworkBuilder, { nodes, edges }: Lists): void {
  const hasIds = nodes.some((node) => findNodeId(node) !== undefined);
  // The links of d3 may be positions in the list of nodes.
  const isByPosition = !hasIds && edges.some((edge) => isRecord(edge) && typeof edge.source === "number");
  for (const [index, node] of nodes.entries()) {
    const id = hasIds ? findNodeId(node) : isByPosition ? String(index) : findNodeName(node);
    builder.addNode(id, toNodeData(node), `nodes[${index}]`);
  }
  for (const [index, edge] of edges.entries()) builder.addEdge(toEdge(edge), `edges[${index}]`);
}

const findNodeId = (node: unknown): string | undefined =>
  isRecord(node) ? toId(flatten(node).id ?? node.key ?? node._id) : toId(node);

const findNodeName = (node: unknown): string | undefined =>
  isRecord(node) ? toId(flatten(node).name ?? flatten(node).label) : undefined;

function toNodeData(node: unknown): Properties {
  if (!isRecord(node)) return { type: "node" };
  const { id: _, _id, key, ...rest } = flatten(node);
  return withTypeAndName(toProperties(Object.entries(rest)), "node");
}

function toEdge(edge: unknown) {
  if (!isRecord(edge)) return { from: undefined, to: undefined, data: {} };
  const { id, key: _, from, to, source = from, target = to, undirected: __, ...rest } = flatten(edge);
  const data = withRelation(toProperties(Object.entries(rest)));
  return { id: toId(id), from: toEnd(source), to: toEnd(target), data };
}

/** d3 replaces the ends of links by the nodes themselves. */
const toEnd = (end: unknown): string | undefined => (isRecord(end) ? findNodeId(end) : toId(end));

const partNames = ["data", "attributes", "properties", "metadata"];

/** Moves the properties in `data`, `attributes`, `properties` and `metadata` to the top. */
function flatten(record: JsonRecord): JsonRecord {
  const entries = Object.entries(record);
  const isPart = ([name, value]: readonly [string, unknown]) => partNames.includes(name) && isRecord(value);
  const inner = entries.filter(isPart).flatMap(([, part]) => (isRecord(part) ? Object.entries(part) : []));
  return Object.fromEntries([...entries.filter((entry) => !isPart(entry)), ...inner]);
}

function findTitle(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const attributes = isRecord(value.attributes) ? value.attributes : isRecord(value.graph) ? value.graph : {};
  return [value.title, attributes.title, attributes.name, attributes.label].find(
    (title): title is string => typeof title === "string" && title.trim() !== "",
  );
}

function findDirection(value: unknown): boolean | undefined {
  if (!isRecord(value)) return undefined;
  const type = isRecord(value.options) ? value.options.type : undefined;
  if (typeof type === "string") return type !== "undirected";
  const inner = isRecord(value.graph) ? value.graph.directed : undefined;
  const isDirected = [value.isDirected, value.directed, inner].find((flag) => typeof flag === "boolean");
  return typeof isDirected === "boolean" ? isDirected : undefined;
}

const toId = (value: unknown): string | undefined =>
  (typeof value === "string" && value.trim() !== "") || typeof value === "number"
    ? String(value).trim()
    : undefined;

const isRecordList = (value: unknown): value is readonly JsonRecord[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord);
