import type { Tool } from "capstan";
import { suggestName } from "capstan";
import { commandTool, type Desk, Refusal } from "../command.ts";
import { nameOf, typesOf } from "../network.ts";
import { type Picked, pickNodes } from "../pick.ts";
import { counted, nodeIdsInput, noNodes, nothingSaid, selectorInput } from "../selection-words.ts";
import { type Layout, layouts, plainView } from "../views.ts";
import { schemaOf } from "./look-at-data.ts";

export function setLayout(desk: Desk): Tool {
  return commandTool<{ readonly layout: Layout }>(desk, {
    name: "setLayout",
    description: "Arranges the nodes of the picture: by forces, in a circle, or in a grid.",
    input: { layout: { type: "string", enum: [...layouts], description: "How to arrange the nodes" } },
    required: ["layout"],
    effects: "ui",
    examples: [{ phrase: "use the {layout} layout" }, { phrase: "arrange the nodes in a {layout}" }],
    carryOut({ layout }, { view }) {
      const others = layouts.filter((other) => other !== layout);
      const replies = others.map((other) => `Use the ${other} layout`);
      return [
        { success: true, message: `The layout is ${layout} now.`, data: { layout } },
        { view: { ...view, layout }, replies },
      ];
    },
  });
}

export function zoomToNodes(desk: Desk): Tool {
  return commandTool<Picked>(desk, {
    name: "zoomToNodes",
    description:
      "Moves the picture so that some nodes fill it. Which ones: `nodeIds`, or a `selector`; * shows all.",
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
    carryOut(picked, { network, view }) {
      const nodes = pickNodes(network, picked);
      if (nodes.length === 0) {
        const selector = picked.selector ?? "no ids";
        const data = { count: 0, types: typesOf(network.nodes) };
        return [{ success: true, message: noNodes(network, selector), note: nothingSaid(selector), data }];
      }
      const zoomTo = nodes.map(({ id }) => id);
      const message = `The picture shows ${counted(nodes.length, "node")} now.`;
      return [
        { success: true, message, data: { count: nodes.length, names: nodes.map(nameOf) } },
        { view: { ...view, zoomTo }, replies: ["Zoom out", "Clear all styles"] },
      ];
    },
  });
}

export function clearStyles(desk: Desk): Tool {
  return commandTool(desk, {
    name: "clearStyles",
    description: "Takes back all colours that were given to nodes and edges, and the zoom.",
    input: {},
    effects: "ui",
    examples: [
      { phrase: "clear all styles" },
      { phrase: "reset the colors" },
      { phrase: "remove all colors" },
    ],
    carryOut(_, { view }) {
      const affectedNodes = Object.keys(view.nodeColours);
      const affectedEdges = Object.keys(view.edgeColours);
      const counts = { clearedNodes: affectedNodes.length, clearedEdges: affectedEdges.length };
      const message = `Cleared the colours of ${counted(counts.clearedNodes, "node")} and ${counted(counts.clearedEdges, "edge")}.`;
      return [
        { success: true, message, data: counts, affectedNodes, affectedEdges },
        {
          view: { ...plainView(view.graph), layout: view.layout },
          replies: ["What types of nodes are there?", "Who has the most connections?"],
        },
      ];
    },
  });
}

export function openGraph(desk: Desk): Tool {
  const { names } = desk.catalogue;
  return commandTool<{ readonly name: string }>(desk, {
    name: "openGraph",
    description: `Opens another graph, in plain colours, and tells its schema. There are: ${names.join(", ")}.`,
    input: { name: { type: "string", enum: [...names], description: "Which graph" } },
    required: ["name"],
    effects: "ui",
    examples: [
      { phrase: "open the {name} graph" },
      { phrase: "go back to the {name} graph" },
      { phrase: "switch to {name}" },
    ],
    async carryOut({ name }, { signal }) {
      if (!names.includes(name)) throw new Refusal(`There is no graph "${name}".${suggestName(name, names)}`);
      const network = await desk.catalogue.load(name, signal);
      const message = `Opened "${network.title}": ${network.nodes.length} nodes, ${network.edges.length} edges.`;
      const replies = ["What types of nodes are there?", "Who has the most connections?"];
      return [
        { success: true, message, data: schemaOf(network) },
        { view: plainView(name), network, replies },
      ];
    },
  });
}
