import type { Tool } from "capstan";
import { formatColor } from "../color.ts";
import { defineCommand, type GraphContext, Refusal } from "../command.ts";
import { countTypes } from "../network.ts";
import { selectEdges } from "../pick-nodes.ts";
import { colorInput, edgeSelectorInput, formatCount } from "../selection.ts";
import { requireHexColor } from "./style-nodes.ts";

type Input = { readonly edgeIds?: readonly string[]; readonly selector?: string; readonly color: string };

export function styleEdges(graphContext: GraphContext): Tool {
  return defineCommand<Input>(graphContext, {
    name: "styleEdges",
    description: "Colors edges in the picture, given by `edgeIds` or a `selector`; * matches all edges.",
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
    run({ color, edgeIds, selector }, { network, view }) {
      const hex = requireHexColor(color);
      if (!edgeIds && selector === undefined)
        throw new Refusal(
          "Specify the edges with edgeIds or a selector such as type == 'lives_in'; * matches all.",
        );
      const edges = edgeIds
        ? network.edges.filter(({ id }) => edgeIds.includes(id))
        : selectEdges(network, selector ?? "*");
      if (edges.length === 0) {
        const types = countTypes(network.edges);
        const typeNames = types.map(({ type }) => type).join(", ");
        const note = `No edge matches ${selector ?? edgeIds?.join(", ")}. Nothing was colored.`;
        const message = `${note} Edge types: ${typeNames}.`;
        return [{ success: true, message, note, data: { styledEdges: 0, edgeTypes: types } }];
      }
      const ids = edges.map(({ id }) => id);
      const edgeColours = { ...view.edgeColours, ...Object.fromEntries(ids.map((id) => [id, hex])) };
      const message = `Colored ${formatCount(ids.length, "edge")} ${formatColor(color)}.`;
      return [
        {
          success: true,
          message,
          data: { color: formatColor(color), styledEdges: ids.length },
          affectedEdges: ids,
        },
        { view: { ...view, edgeColours }, replies: ["Clear all styles"] },
      ];
    },
  });
}
