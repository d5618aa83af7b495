import type { Tool } from "capstan";
import { commandTool, type Desk } from "../command.ts";
import { type NetworkNode, nameOf, typesOf } from "../network.ts";
import { wordsIn } from "../nodes-said.ts";
import { selectNodes } from "../pick.ts";
import { counted, noNodes, nothingSaid, otherTypes, selectorInput } from "../selection-words.ts";

export function findNodes(desk: Desk): Tool {
  return commandTool<{ readonly selector: string }>(desk, {
    name: "findNodes",
    description:
      "Finds the nodes that a selector matches and gives their ids and names. When it finds none, it says which types exist.",
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
      { phrase: "find the node named {name}", input: { selector: "name contains '{name}'" } },
      { phrase: "find everything named {name}", input: { selector: "name contains '{name}'" } },
      { phrase: "show all nodes", input: { selector: "*" } },
      { phrase: "find {name}", input: { selector: "{name}" } },
      { phrase: "find nodes where {selector}", input: {} },
    ],
    carryOut({ selector }, { network }) {
      const nodes = selectNodes(network, selector);
      if (nodes.length === 0) {
        const data = { nodeIds: [], count: 0, types: typesOf(network.nodes) };
        return [
          { success: true, message: noNodes(network, selector), note: nothingSaid(selector), data },
          { replies: otherTypes(network) },
        ];
      }
      const nodeIds = nodes.map(({ id }) => id);
      const count = nodes.length;
      const names = wordsIn(selector) === undefined ? ` with ${selector}` : `: ${namesOf(nodes)}`;
      const message = `Found ${counted(count, "node")}${names}.`;
      const replies = ["Make them blue", "Zoom to them"];
      return [
        { success: true, message, data: { count, nodes: nodes.map(named), nodeIds } },
        { flash: nodeIds, replies },
      ];
    },
  });
}

const mostNames = 10;

function namesOf(nodes: readonly NetworkNode[]): string {
  const names = nodes.slice(0, mostNames).map(nameOf).join(", ");
  return nodes.length > mostNames ? `${names} and ${nodes.length - mostNames} more` : names;
}

/** The name beside the id: "the second one" is then easy to tell. */
const named = (node: NetworkNode) => ({ id: node.id, name: nameOf(node) });
