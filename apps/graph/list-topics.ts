import { describeTypes, getName, type Network } from "./network.ts";

const maxTopics = 500;

/** What questions about this graph name: types of nodes and edges, their properties, and the nodes. */
export function listTopics({ title, nodes, edges }: Network): readonly string[] {
  const kinds = [...describeTypes(nodes), ...describeTypes(edges)];
  const words = kinds.flatMap(({ type, properties }) => [type, ...properties]);
  return [...new Set([title, ...words, ...nodes.slice(0, maxTopics).map(getName)])].slice(0, maxTopics);
}
