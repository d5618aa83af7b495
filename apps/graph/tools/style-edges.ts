import type { Tool } from "capstan";
import { colourInWords } from "../colour.ts";
import { commandTool, type Desk, Refusal } from "../command.ts";
import { typesOf } from "../network.ts";
import { selectEdges } from "../pick.ts";
import { colorInput, counted, edgeSelectorInput } from "../selection-words.ts";
import { hexOf } from "./style-nodes.ts";

type Input = { readonly edgeIds?: readonly string[]; readonly selector?: string; readonly color: string };

export function styleEdges(desk: Desk): Tool {
  return commandTool<Input>(desk, {
    name: "styleEdges",
    description:
      "Colours edges in the picture. Which ones: `edgeIds`, or a `selector`; the selector * means all edges.",
    input: {
      edgeIds: { type: "array", items: { type: "string" }, description: "Ids of edges" },
      selector: edgeSelectorInput,
      color: colorInput,
    },
    required: ["color"],
    effects: "ui",
    examples: [
      { phrase: "make the edges {color}", input: { selector: "*" } },
      { phrase: "color all edges {color}", input: { selector: "*" } },
      { phrase: "make the {type} edges {color}", input: { selector: "type contains '{type}'" } },
      { phrase: "color the {type} edges {color}", input: { selector: "type contains '{type}'" } },
    ],
    carryOut({ color, edgeIds, selector }, { network, view }) {
      const hex = hexOf(color);
      if (!edgeIds && selector === undefined)
        throw new Refusal("Say which edges: edgeIds, or a selector such as type == 'lives_in'; * means all.");
      const edges = edgeIds
        ? network.edges.filter(({ id }) => edgeIds.includes(id))
        : selectEdges(network, selector ?? "*");
      if (edges.length === 0) {
        const types = typesOf(network.edges);
        const named = types.map(({ type }) => type).join(", ");
        const message = `No edge matches ${selector ?? edgeIds?.join(", ")}. The types of edges are: ${named}. Nothing was coloured.`;
        return [{ success: true, message, data: { styledCount: 0, edgeTypes: types } }];
      }
      const ids = edges.map(({ id }) => id);
      const edgeColours = { ...view.edgeColours, ...Object.fromEntries(ids.map((id) => [id, hex])) };
      const message = `Coloured ${counted(ids.length, "edge")} ${colourInWords(color)}.`;
      return [
        { success: true, message, data: { styledCount: ids.length, color: hex }, affectedEdges: ids },
        { view: { ...view, edgeColours }, replies: ["Clear all styles"] },
      ];
    },
  });
}
