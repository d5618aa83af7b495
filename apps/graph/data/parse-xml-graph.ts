// Runs in a worker: parses GraphML and GEXF. Entities of a document are not expanded, and nothing is loaded from elsewhere.

import { MultiGraph } from "graphology";
import { parse as parseGexf } from "graphology-gexf";
import { parse as parseGraphml } from "graphology-graphml";

export type XmlGraphInput = { readonly text: string; readonly format: "graphml" | "gexf" };

type Attributes = Readonly<Record<string, unknown>>;

export type XmlGraph = {
  readonly isDirected: boolean;
  readonly title?: string | undefined;
  readonly nodes: readonly { readonly id: string; readonly attributes: Attributes }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly attributes: Attributes;
  }[];
};

export function parse({ text, format }: XmlGraphInput): XmlGraph {
  const graph =
    format === "gexf"
      ? parseGexf(MultiGraph, renameEdgeTypes(text), {
          addMissingNodes: true,
          allowUndeclaredAttributes: true,
        })
      : parseGraphml(MultiGraph, removeEdgeIds(text), { addMissingNodes: true });
  const title: unknown = graph.getAttribute("title") ?? graph.getAttribute("name");
  return {
    isDirected: graph.directedSize >= graph.undirectedSize && graph.directedSize > 0,
    ...(typeof title === "string" && title.trim() !== "" && { title }),
    nodes: graph.mapNodes((id, attributes) => ({ id, attributes })),
    edges: graph.mapEdges((id, attributes) => {
      const [from, to] = graph.extremities(id);
      return { from, to, attributes };
    }),
  };
}

/** The start of an edge up to one of its attributes, whose name follows. */
const edgeStart = /(<edge(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*?\s+)/u.source;

/**
 * In a multigraph, networkx numbers the edges of each pair of nodes, so that their ids are not unique. The parser rejects
 * them.
 */
const removeEdgeIds = (text: string): string =>
  text.replaceAll(new RegExp(`${edgeStart}id(?=\\s*=)`, "gu"), "$1number");

/**
 * In GEXF the type of an edge is its direction, but networkx also writes an attribute of that name there. The parser
 * rejects it, so it becomes the kind.
 */
const renameEdgeTypes = (text: string): string =>
  text.replaceAll(
    new RegExp(`${edgeStart}type(?=\\s*=\\s*(["'])(?!(?:directed|undirected|mutual)\\2))`, "gu"),
    "$1kind",
  );
