import type { Tool } from "capstan";
import { colourInWords, hexColour } from "../colour.ts";
import { commandTool, type Desk, Refusal } from "../command.ts";
import { nameOf, typesOf } from "../network.ts";
import { type Picked, pickNodes } from "../pick.ts";
import {
  colorInput,
  counted,
  nodeIdsInput,
  noNodes,
  nothingSaid,
  otherTypes,
  selectorInput,
} from "../selection-words.ts";

export function styleNodes(desk: Desk): Tool {
  return commandTool<Picked & { readonly color: string }>(desk, {
    name: "styleNodes",
    description:
      "Colours nodes in the picture. Which ones: `nodeIds`, or a `selector`; the selector * means all nodes.",
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
    carryOut({ color, ...picked }, { network, view }) {
      const hex = hexOf(color);
      const nodes = pickNodes(network, picked);
      if (nodes.length === 0) {
        const selector = picked.selector ?? "no ids";
        const message = `${noNodes(network, selector)} Nothing was coloured.`;
        const note = `${nothingSaid(selector)} Nothing was coloured.`;
        const data = { styledCount: 0, types: typesOf(network.nodes) };
        return [{ success: true, message, note, data }, { replies: otherTypes(network) }];
      }
      const nodeIds = nodes.map(({ id }) => id);
      const nodeColours = { ...view.nodeColours, ...Object.fromEntries(nodeIds.map((id) => [id, hex])) };
      const message = `Coloured ${counted(nodes.length, "node")} ${colourInWords(color)}.`;
      const data = { styledCount: nodes.length, color: hex, names: nodes.map(nameOf), nodeIds };
      return [
        { success: true, message, data, affectedNodes: nodeIds },
        { view: { ...view, nodeColours }, flash: nodeIds, replies: ["Zoom to them", "Clear all styles"] },
      ];
    },
  });
}

/** The hex value of a colour, or a refusal that the model can act on. */
export function hexOf(color: string): string {
  const found = hexColour(color);
  if ("problem" in found) throw new Refusal(found.problem);
  return found.hex;
}
