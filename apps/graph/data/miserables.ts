import { createRequire } from "node:module";
import type { Network, NetworkEdge, NetworkNode } from "../network.ts";

type Characters = {
  forEachNode(visit: (node: { id: number; data: { name: string; group: number } }) => void): void;
  forEachLink(visit: (link: { fromId: number; toId: number; data: number }) => void): void;
};

// The package has no types; these cover the part used here.
const { create }: { create(): Characters } = createRequire(import.meta.url)("miserables");

/** The 77 characters of the novel, from the package `miserables`. An edge counts the chapters in which two meet. */
export function createMiserablesGraph(): Network {
  const source = create();
  const nodes: NetworkNode[] = [];
  const edges: NetworkEdge[] = [];
  source.forEachNode(({ id, data: { name, group } }) => {
    nodes.push({ id: `p${id}`, data: { type: `group ${group}`, name, group } });
  });
  source.forEachLink(({ fromId, toId, data: chapters }) => {
    const id = `e${edges.length + 1}`;
    edges.push({ id, from: `p${fromId}`, to: `p${toId}`, data: { type: "meets", chapters } });
  });
  return { name: "miserables", title: "Les Misérables: who meets whom", isDirected: false, nodes, edges };
}
