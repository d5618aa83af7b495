import type { Json, Tool, ToolExample } from "capstan";
import { defineCommand, type GraphContext } from "../command.ts";
import { getPlainText } from "../match-nodes.ts";
import { countTypes, getName, type NetworkNode } from "../network.ts";
import { pickNodes, selectNodes } from "../pick-nodes.ts";
import {
  explainNoNodes,
  formatCount,
  formatNoNodes,
  listNodes,
  refuseTypo,
  selectorInput,
  suggestTypes,
} from "../selection.ts";

export function findNodes(graphContext: GraphContext): Tool {
  return defineCommand<{ readonly selector: string; readonly nodeIds?: readonly string[] }>(graphContext, {
    name: "findNodes",
    description:
      "Finds the nodes matching a selector and returns their ids and names. If there are none, it lists the existing types.",
    input: { selector: selectorInput, nodeIds: amongInput },
    required: ["selector"],
    effects: "none",
    examples: [
      { phrase: "find all {type}", input: { selector: "type == '{type}'" } },
      { phrase: "find the {type}", input: { selector: "type == '{type}'" } },
      { phrase: "show all {type}", input: { selector: "type == '{type}'" } },
      { phrase: "list the {type}", input: { selector: "type == '{type}'" } },
      { phrase: "how many {type} are there", input: { selector: "type == '{type}'" } },
      { phrase: "any {type}", input: { selector: "type == '{type}'" } },
      { phrase: "are there any {type}", input: { selector: "type == '{type}'" } },
      { phrase: "is there a {type}", input: { selector: "type == '{type}'" } },
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
      { phrase: "who is over {age}", input: { selector: "age > {age}" } },
      { phrase: "who is under {age}", input: { selector: "age < {age}" } },
      ...rangeExamples,
      { phrase: "find the node named {name}", input: { selector: "name contains '{name}'" } },
      { phrase: "find everything named {name}", input: { selector: "name contains '{name}'" } },
      { phrase: "show all nodes", input: { selector: "*" } },
      { phrase: "find {name}", input: { selector: "{name}" } },
      { phrase: "find nodes where {selector}", input: {} },
    ],
    run({ selector, nodeIds }, { network }) {
      const among = nodeIds && new Set(pickNodes(network, { nodeIds }));
      const nodes = selectNodes(network, selector).filter((node) => !among || among.has(node));
      if (nodes.length === 0) {
        refuseTypo(network, getPlainText(selector) ?? "");
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

/** How users compare numbers, and the sign in a selector. */
const comparisons = [
  ["more than", ">"],
  ["less than", "<"],
  ["fewer than", "<"],
  ["at least", ">="],
  ["at most", "<="],
] as const;

const rangeExamples: readonly ToolExample[] = [
  ...comparisons.flatMap(([words, sign]): ToolExample[] => {
    const priced = { selector: `type == '{type}' and price ${sign} {price}` };
    const counted = { selector: `type == '{type}' and {property} ${sign} {number}` };
    return [
      { phrase: `{type} for ${words} {price}`, input: priced },
      { phrase: `which {type} cost ${words} {price}`, input: priced },
      { phrase: `{type} with ${words} {number} {property}`, input: counted },
      { phrase: `which {type} have ${words} {number} {property}`, input: counted },
      {
        phrase: `those with ${words} {number} {property}`,
        input: { selector: `{property} ${sign} {number}` },
      },
    ];
  }),
  { phrase: "everyone under {age}", input: { selector: "age < {age}" } },
  { phrase: "everyone over {age}", input: { selector: "age > {age}" } },
  { phrase: "everyone older than {age}", input: { selector: "age > {age}" } },
  { phrase: "everyone younger than {age}", input: { selector: "age < {age}" } },
  { phrase: "{type} cheaper than {price}", input: { selector: "type == '{type}' and price < {price}" } },
  { phrase: "those older than {age}", input: { selector: "age > {age}" } },
  { phrase: "those younger than {age}", input: { selector: "age < {age}" } },
  { phrase: "those cheaper than {price}", input: { selector: "price < {price}" } },
  { phrase: "{type} older than {age}", input: { selector: "type == '{type}' and age > {age}" } },
  { phrase: "{type} younger than {age}", input: { selector: "type == '{type}' and age < {age}" } },
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

const amongInput: Json = {
  type: "array",
  items: { type: "string" },
  description: "Only among these nodes, as returned by an earlier call",
};

const maxNames = 10;

function formatNames(nodes: readonly NetworkNode[]): string {
  const names = nodes.slice(0, maxNames).map(getName).join(", ");
  return nodes.length > maxNames ? `${names} and ${nodes.length - maxNames} more` : names;
}
