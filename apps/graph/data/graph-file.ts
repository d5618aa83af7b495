import { extname } from "node:path";
import type { Network } from "../network.ts";
import type { GraphContent } from "./network-builder.ts";
import { readGraph, readTables, tableExtensions } from "./read-graph.ts";

/** A file in any known format, or a table of nodes and one of edges. */
export type GraphFile = string | { readonly nodes: string; readonly edges: string };

/** Reads a graph that the code of an app names, so a problem is an error. */
export async function readGraphFile(file: GraphFile): Promise<Network> {
  const name = typeof file === "string" ? file : file.edges;
  const { network, problems } = await readContent(file).catch((error: unknown) => {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  });
  if (problems.length > 0) throw new Error(`${name}: ${problems.join(" ")}`);
  return network;
}

function readContent(file: GraphFile): Promise<GraphContent> {
  if (typeof file !== "string") return readTables([file.nodes, file.edges]);
  return tableExtensions.includes(extname(file).toLowerCase()) ? readTables([file]) : readGraph(file);
}
