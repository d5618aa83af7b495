import type { Tool } from "capstan";
import { formatColor, parseColor } from "../color.ts";
import { defineCommand, type GraphContext, Refusal } from "../command.ts";
import { getPlainText } from "../match-nodes.ts";
import { countTypes } from "../network.ts";
import { type NodeSelection, pickNodes } from "../pick-nodes.ts";
import {
  colorInput,
  explainNoNodes,
  formatCount,
  formatNoNodes,
  listNodes,
  nodeIdsInput,
  refuseTypo,
  selectorInput,
  suggestTypes,
} from "../selection.ts";

export function styleNodes(graphContext: GraphContext): Tool {
  return defineCommand<NodeSelection & { readonly color: string }>(graphContext, {
    name: "styleNodes",
    description: "Colors nodes in the picture, given by `nodeIds` or a `selector`; * matches all nodes.",
    input: { nodeIds: nodeIdsInput, selector: selectorInput, color: colorInput },
    required: ["color"],
    effects: "ui",
    examples: [
      { phrase: "make them {color}" },
      { phrase: "color them {color}" },
      { phrase: "highlight them in {color}" },
      { phrase: "highlight the {type} in {color}", input: { selector: "type == '{type}'" } },
      { phrase: "style all {type} {color}", input: { selector: "type == '{type}'" } },
      { phrase: "color the {type} {color}", input: { selector: "type == '{type}'" } },
      { phrase: "make the {type} {color}", input: { selector: "type == '{type}'" } },
      { phrase: "paint {name} {color}", input: { selector: "{name}" } },
      { phrase: "color {name} {color}", input: { selector: "{name}" } },
      { phrase: "make {name} {color}", input: { selector: "{name}" } },
      { phrase: "highlight {name} in {color}", input: { selector: "{name}" } },
      { phrase: "make everything {color}", input: { selector: "*" } },
      { phrase: "color everything {color}", input: { selector: "*" } },
      { phrase: "make all nodes {color}", input: { selector: "*" } },
    ],
    run({ color, ...selection }, { network, view }) {
      const hex = requireHexColor(color);
      const nodes = pickNodes(network, selection);
      if (nodes.length === 0) {
        const selector = selection.selector ?? "no ids";
        refuseTypo(network, getPlainText(selector) ?? "");
        const message = `${explainNoNodes(network, selector)} Nothing was colored.`;
        const note = `${formatNoNodes(selector)} Nothing was colored.`;
        const data = { styledCount: 0, types: countTypes(network.nodes) };
        return [{ success: true, message, note, data }, { replies: suggestTypes(network) }];
      }
      const nodeIds = nodes.map(({ id }) => id);
      const nodeColours = { ...view.nodeColours, ...Object.fromEntries(nodeIds.map((id) => [id, hex])) };
      const message = `Colored ${formatCount(nodes.length, "node")} ${formatColor(color)}.`;
      const data = {
        styledCount: nodes.length,
        color: formatColor(color),
        ...listNodes(nodes, selection),
      };
      return [
        { success: true, message, data, affectedNodes: nodeIds },
        { view: { ...view, nodeColours }, flash: nodeIds, replies: ["Zoom to them", "Clear all styles"] },
      ];
    },
  });
}

/** Throws a refusal that tells the model which colors work. */
export function requireHexColor(color: string): string {
  const found = parseColor(color);
  if ("problem" in found) throw new Refusal(found.problem);
  return found.hex;
}
