import { createRequire } from "node:module";
import type { Network, NetworkEdge, NetworkNode } from "../network.ts";

type Characters = {
  forEachNode(visit: (node: { id: number; data: { name: string; group: number } }) => void): void;
  forEachLink(visit: (link: { fromId: number; toId: number; data: number }) => void): void;
};

// The package comes without types: this is the part that is used here.
const { create }: { create(): Characters } = createRequire(import.meta.url)("miserables");

/** Who meets whom in the novel: 77 characters; an edge says in how many chapters. From the package of that name. */
export function lesMiserables(): Network {
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
