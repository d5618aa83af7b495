import type { Tool } from "capstan";
import { suggestName } from "capstan";
import { defineCommand, type GraphContext, Refusal } from "../command.ts";
import { getPlainText } from "../match-nodes.ts";
import { countTypes } from "../network.ts";
import { type NodeSelection, pickNodes } from "../pick-nodes.ts";
import {
  explainNoNodes,
  formatCount,
  formatNoNodes,
  listNodes,
  nodeIdsInput,
  refuseTypo,
  selectorInput,
} from "../selection.ts";
import { createView, type Layout, layouts } from "../view.ts";
import { describeSchema } from "./inspect-data.ts";

export function setLayout(graphContext: GraphContext): Tool {
  return defineCommand<{ readonly layout: Layout }>(graphContext, {
    name: "setLayout",
    description: "Arranges the nodes of the picture with forces, in a circle, or in a grid.",
    input: { layout: { type: "string", enum: [...layouts], description: "How to arrange the nodes" } },
    required: ["layout"],
    effects: "ui",
    examples: [{ phrase: "use the {layout} layout" }, { phrase: "arrange the nodes in a {layout}" }],
    run({ layout }, { view }) {
      const others = layouts.filter((other) => other !== layout);
      const replies = others.map((other) => `Use the ${other} layout`);
      return [
        { success: true, message: `The layout is now ${layout}.`, data: { layout } },
        { view: { ...view, layout }, replies },
      ];
    },
  });
}

export function zoomToNodes(graphContext: GraphContext): Tool {
  return defineCommand<NodeSelection>(graphContext, {
    name: "zoomToNodes",
    description: "Zooms the picture to some nodes, given by `nodeIds` or a `selector`; * shows all.",
    input: { nodeIds: nodeIdsInput, selector: selectorInput },
    effects: "ui",
    examples: [
      { phrase: "zoom to them" },
      { phrase: "zoom to the {type}", input: { selector: "type == '{type}'" } },
      { phrase: "zoom to the node {name}", input: { selector: "name contains '{name}'" } },
      { phrase: "zoom to {name}", input: { selector: "{name}" } },
      { phrase: "zoom in on them" },
      { phrase: "zoom in on the {type}", input: { selector: "type == '{type}'" } },
      { phrase: "zoom in on {name}", input: { selector: "{name}" } },
      { phrase: "focus on {name}", input: { selector: "{name}" } },
      { phrase: "zoom out", input: { selector: "*" } },
    ],
    run(selection, { network, view }) {
      const nodes = pickNodes(network, selection);
      if (nodes.length === 0) {
        const selector = selection.selector ?? "no ids";
        refuseTypo(network, getPlainText(selector) ?? "");
        const data = { count: 0, types: countTypes(network.nodes) };
        return [
          { success: true, message: explainNoNodes(network, selector), note: formatNoNodes(selector), data },
        ];
      }
      const zoomTo = nodes.map(({ id }) => id);
      const message = `The picture now shows ${formatCount(nodes.length, "node")}.`;
      return [
        { success: true, message, data: { count: nodes.length, ...listNodes(nodes, selection) } },
        { view: { ...view, zoomTo }, replies: ["Zoom out", "Clear all styles"] },
      ];
    },
  });
}

export function clearStyles(graphContext: GraphContext): Tool {
  return defineCommand(graphContext, {
    name: "clearStyles",
    description: "Removes all colors from nodes and edges, and resets the zoom.",
    input: {},
    effects: "ui",
    examples: [
      { phrase: "clear all styles" },
      { phrase: "reset the colors" },
      { phrase: "remove all colors" },
      { phrase: "undo the colors" },
    ],
    run(_, { view }) {
      const affectedNodes = Object.keys(view.nodeColours);
      const affectedEdges = Object.keys(view.edgeColours);
      const counts = { clearedNodes: affectedNodes.length, clearedEdges: affectedEdges.length };
      const message = `Cleared the colors of ${formatCount(counts.clearedNodes, "node")} and ${formatCount(counts.clearedEdges, "edge")}.`;
      return [
        { success: true, message, data: counts, affectedNodes, affectedEdges },
        {
          view: { ...createView(view.graph), layout: view.layout },
          replies: ["What types of nodes are there?", "Who has the most connections?"],
        },
      ];
    },
  });
}

export function openGraph(graphContext: GraphContext): Tool {
  const { names } = graphContext.catalog;
  return defineCommand<{ readonly name: string }>(graphContext, {
    name: "openGraph",
    description: `Opens another graph in the default view and returns its schema. Available: ${names.join(", ")}.`,
    input: { name: { type: "string", enum: [...names], description: "Which graph" } },
    required: ["name"],
    effects: "ui",
    examples: [
      { phrase: "open the {name} graph" },
      { phrase: "go back to the {name} graph" },
      { phrase: "switch to {name}" },
    ],
    async run({ name }, { signal }) {
      if (!names.includes(name)) throw new Refusal(`Graph "${name}" not found.${suggestName(name, names)}`);
      const network = await graphContext.catalog.load(name, signal);
      const message = `Opened "${network.title}": ${formatCount(network.nodes.length, "node")}, ${formatCount(network.edges.length, "edge")}.`;
      const replies = ["What types of nodes are there?", "Who has the most connections?"];
      return [
        { success: true, message, data: describeSchema(network) },
        { view: createView(name), network, replies },
      ];
    },
  });
}
