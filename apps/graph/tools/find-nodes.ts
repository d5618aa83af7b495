import type { Tool, ToolExample } from "capstan";
import { defineCommand, type GraphContext } from "../command.ts";
import { getPlainText } from "../match-nodes.ts";
import { countTypes, getName, type NetworkNode } from "../network.ts";
import { selectNodes } from "../pick-nodes.ts";
import {
  explainNoNodes,
  formatCount,
  formatNoNodes,
  listNodes,
  selectorInput,
  suggestTypes,
} from "../selection.ts";

export function findNodes(graphContext: GraphContext): Tool {
  return defineCommand<{ readonly selector: string }>(graphContext, {
    name: "findNodes",
    description:
      "Finds the nodes matching a selector and returns their ids and names. If there are none, it lists the existing types.",
    input: { selector: selectorInput },
    required: ["selector"],
    effects: "none",
    examples: [
      { phrase: "find all {type}", input: { selector: "type == '{type}'" } },
      { phrase: "find the {type}", input: { selector: "type == '{type}'" } },
      { phrase: "show all {type}", input: { selector: "type == '{type}'" } },
      { phrase: "list the {type}", input: { selector: "type == '{type}'" } },
      { phrase: "how many {type} are there", input: { selector: "type == '{type}'" } },
      {
        phrase: "which {type} are older than {age}",
        input: { selector: "type == '{type}' and age > {age}" },
      },
      {
        phrase: "which {type} are younger than {age}",
        input: { selector: "type == '{type}' and age < {age}" },
      },
      { phrase: "who is older than {age}", input: { selector: "age > {age}" } },
      { phrase: "who is younger than {age}", input: { selector: "age < {age}" } },
      ...rangeExamples,
      { phrase: "find the node named {name}", input: { selector: "name contains '{name}'" } },
      { phrase: "find everything named {name}", input: { selector: "name contains '{name}'" } },
      { phrase: "show all nodes", input: { selector: "*" } },
      { phrase: "find {name}", input: { selector: "{name}" } },
      { phrase: "find nodes where {selector}", input: {} },
    ],
    run({ selector }, { network }) {
      const nodes = selectNodes(network, selector);
      if (nodes.length === 0) {
        const data = { nodeIds: [], count: 0, types: countTypes(network.nodes) };
        return [
          { success: true, message: explainNoNodes(network, selector), note: formatNoNodes(selector), data },
          { replies: suggestTypes(network) },
        ];
      }
      const count = nodes.length;
      const names = getPlainText(selector) === undefined ? ` with ${selector}` : `: ${formatNames(nodes)}`;
      const message = `Found ${formatCount(count, "node")}${names}.`;
      const replies = ["Make them blue", "Zoom to them"];
      return [
        { success: true, message, data: { count, ...listNodes(nodes, { selector }) } },
        { flash: nodes.map(({ id }) => id), replies },
      ];
    },
  });
}

const rangeExamples: readonly ToolExample[] = [
  { phrase: "nodes with a {property} above {low}", input: { selector: "{property} > {low}" } },
  { phrase: "nodes with a {property} below {high}", input: { selector: "{property} < {high}" } },
  {
    phrase: "nodes with a {property} between {low} and {high}",
    input: { selector: "{property} >= {low} and {property} <= {high}" },
  },
  {
    phrase: "which {type} have a {property} above {low}",
    input: { selector: "type == '{type}' and {property} > {low}" },
  },
  {
    phrase: "which {type} have a {property} below {high}",
    input: { selector: "type == '{type}' and {property} < {high}" },
  },
];

const maxNames = 10;

function formatNames(nodes: readonly NetworkNode[]): string {
  const names = nodes.slice(0, maxNames).map(getName).join(", ");
  return nodes.length > maxNames ? `${names} and ${nodes.length - maxNames} more` : names;
}
