import type { Json, Tool } from "capstan";
import { suggestName } from "capstan";
import { commandTool, type Desk, type Facts, Refusal } from "../command.ts";
import { describedTypes, type Network, nameOf, propertiesOf } from "../network.ts";
import { counted } from "../selection-words.ts";

type Target = "nodes" | "edges";
const target = {
  type: "string",
  enum: ["nodes", "edges"],
  default: "nodes",
  description: "Nodes or edges",
} as const;

export function sampleData(desk: Desk): Tool {
  return commandTool<{ readonly target?: Target; readonly count?: number }>(desk, {
    name: "sampleData",
    description: "Gives a few nodes or edges with all their properties, as examples of what the graph has.",
    input: {
      target,
      count: { type: "integer", minimum: 1, maximum: 1000, default: 3, description: "How many" },
    },
    effects: "none",
    examples: [
      { phrase: "what are some sample nodes", input: { target: "nodes" } },
      { phrase: "show {count} sample nodes", input: { target: "nodes" } },
      { phrase: "what are some sample edges", input: { target: "edges" } },
      { phrase: "show {count} sample edges", input: { target: "edges" } },
      { phrase: "show me the edges", input: { target: "edges" } },
      { phrase: "show me some example nodes", input: { target: "nodes" } },
      { phrase: "show {count} example nodes", input: { target: "nodes" } },
    ],
    carryOut({ target: of = "nodes", count = 3 }, { network }) {
      const samples = of === "nodes" ? nodeSamples(network, count) : edgeSamples(network, count);
      const message = `Returned ${counted(samples.length, of === "nodes" ? "node sample" : "edge sample")}.`;
      return [{ success: true, message, data: { total: network[of].length, [of]: samples } }];
    },
  });
}

const nodeSamples = ({ nodes }: Network, count: number): Json[] =>
  nodes.slice(0, count).map(({ id, data }) => ({ id, data }));

function edgeSamples({ nodes, edges }: Network, count: number): Json[] {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]));
  return edges.slice(0, count).map(({ id, from, to, data }) => {
    return { id, from: names.get(from) ?? from, to: names.get(to) ?? to, data };
  });
}

export function getSchema(desk: Desk): Tool {
  return commandTool(desk, {
    name: "getSchema",
    description:
      "Tells the types of nodes and edges of the open graph, how many there are, and which properties they have.",
    input: {},
    effects: "none",
    examples: [
      { phrase: "describe the schema" },
      { phrase: "show me the schema" },
      { phrase: "which properties do the nodes have" },
      { phrase: "what is in this graph" },
    ],
    carryOut(_, { network }) {
      const { title, nodes, edges } = network;
      const message = `"${title}" has ${nodes.length} nodes and ${edges.length} edges.`;
      return [{ success: true, message, data: schemaOf(network) }, {}];
    },
  });
}

export function schemaOf({ name, nodes, edges }: Network): Facts {
  return {
    graph: name,
    nodeCount: nodes.length,
    edgeCount: edges.length,
    nodeTypes: describedTypes(nodes),
    edgeTypes: describedTypes(edges),
  };
}

export function describeProperty(desk: Desk): Tool {
  return commandTool<{ readonly property: string; readonly target?: Target }>(desk, {
    name: "describeProperty",
    description:
      "Tells which values a property of nodes or edges has: how many, the most usual, smallest, largest, mean.",
    input: { property: { type: "string", description: "Name of the property, such as breed" }, target },
    required: ["property"],
    effects: "none",
    examples: [
      { phrase: "tell me about the property {property}" },
      { phrase: "what values does {property} have" },
      { phrase: "describe the property {property} of the edges", input: { target: "edges" } },
    ],
    carryOut({ property, target: of = "nodes" }, { network }) {
      const members = network[of];
      const values = members.flatMap(({ data }) =>
        Object.hasOwn(data, property) ? [data[property] ?? ""] : [],
      );
      if (values.length === 0) {
        const known = ["type", ...propertiesOf(members)];
        throw new Refusal(
          `No ${of} have the property "${property}".${suggestName(property, known)} There are: ${known.join(", ")}.`,
        );
      }
      const message = `${values.length} of ${members.length} ${of} have "${property}".`;
      return [{ success: true, message, data: { property, has: values.length, ...summaryOf(values) } }];
    },
  });
}

const mostValues = 10;

function summaryOf(values: readonly (string | number | boolean)[]): { readonly [name: string]: Json } {
  const counts = new Map<string | number | boolean, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const usual = [...counts].sort(([, left], [, right]) => right - left).slice(0, mostValues);
  const numbers = values.filter((value) => typeof value === "number");
  const range = numbers.length > 0 && {
    smallest: numbers.reduce((left, right) => Math.min(left, right)),
    largest: numbers.reduce((left, right) => Math.max(left, right)),
    mean: Number((numbers.reduce((sum, number) => sum + number, 0) / numbers.length).toFixed(2)),
  };
  return { distinct: counts.size, ...range, values: usual.map(([value, count]) => ({ value, count })) };
}
