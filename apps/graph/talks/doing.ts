import type { Talk } from "capstan/testing/talks-suite";
import { isHonest } from "./honest.ts";

const rawMessages = [/^returned \d+ (?:node|edge) samples?\.?$/i, /"success"/, /nodeIds/];

const styling: readonly Talk[] = [
  [
    {
      says: "Find all cats and make them blue",
      calls: [["findNodes"], ["styleNodes", { nodeIds: ["cat1", "cat2", "cat3"], color: "#0000ff" }]],
      answers: ["Whiskers", "Mittens", "Shadow"],
      never: rawMessages,
    },
    { says: "highlight them in green", calls: [["styleNodes", { color: "#008000" }]], answers: ["Whiskers"] },
    { says: "now make them red", calls: [["styleNodes", { color: "#ff0000" }]], answers: ["Whiskers"] },
    { says: "Clear all styles", calls: [["clearStyles"]] },
  ],
  [
    { says: "Style all dogs red", answers: ["cat", "human"], never: [/coloured [1-9]/i, "Whiskers"] },
    { says: "yes, the cats", answers: ["Whiskers", "Mittens", "Shadow"] },
  ],
  [
    {
      says: "Color the humans green",
      calls: [["styleNodes", { color: "#008000" }]],
      answers: ["Ada", "Grace"],
    },
  ],
  [
    {
      says: "paint Whiskers purple",
      calls: [["styleNodes", { color: "#800080" }]],
      answers: ["Whiskers"],
      never: ["Mittens"],
    },
  ],
  [
    {
      says: "Make all nodes gray",
      calls: [["styleNodes", { selector: "*", color: "#808080" }]],
      answers: ["20"],
    },
  ],
  [
    {
      says: "Make the lives_in edges orange",
      calls: [["styleEdges", { color: "#ffa500" }]],
      answers: ["10"],
    },
  ],
  [
    {
      says: "colour all edges black",
      calls: [["styleEdges", { selector: "*", color: "#000000" }]],
      answers: ["30"],
    },
  ],
  [
    { says: "Find the humans", calls: [["findNodes"]], answers: ["Ada"] },
    { says: "zoom to them", calls: [["zoomToNodes"]], answers: ["7"] },
  ],
  [
    { says: "Find all cats", calls: [["findNodes"]] },
    {
      says: "make the second one yellow",
      calls: [["styleNodes", { color: "#ffff00" }]],
      answers: ["Mittens"],
      never: ["Shadow"],
    },
  ],
  [
    {
      says: "Make the cats blue and the humans red",
      calls: [
        ["styleNodes", { color: "#0000ff" }],
        ["styleNodes", { color: "#ff0000" }],
      ],
      answers: ["Whiskers", "Ada"],
    },
  ],
  [{ says: "Zoom to the cats", calls: [["zoomToNodes"]], answers: ["Whiskers"] }],
  [{ says: "Use the circle layout", calls: [["setLayout", { layout: "circle" }]], answers: ["circle"] }],
  [{ says: "arrange the nodes in a grid", calls: [["setLayout", { layout: "grid" }]], answers: ["grid"] }],
  [
    { says: "Make the cats pink", calls: [["styleNodes", { color: "#ffc0cb" }]] },
    { says: "and the humans too", calls: [["styleNodes", { color: "#ffc0cb" }]], answers: ["Ada"] },
    { says: "undo", calls: [], answers: [isHonest] },
  ],
  [
    { says: "colour Ada blue", calls: [["styleNodes", { color: "#0000ff" }]], answers: ["Ada"] },
    {
      says: "and Ben green",
      calls: [["styleNodes", { color: "#008000" }]],
      answers: ["Ben"],
      never: ["Ada"],
    },
  ],
  [{ says: "Are all nodes gray?", never: [/coloured/i] }],
  [{ says: "Should I make the cats blue?", calls: [], never: [/coloured/i] }],
  [{ says: "reset the colours", calls: [["clearStyles"]] }],
  [
    {
      says: "make Whiskers and Shadow orange",
      calls: [["styleNodes", { color: "#ffa500" }]],
      answers: ["2 nodes orange", "Whiskers", "Shadow"],
      never: ["Mittens"],
    },
  ],
  [
    {
      says: "make everything purple",
      calls: [["styleNodes", { selector: "*", color: "#800080" }]],
      answers: ["20 nodes purple"],
    },
  ],
  [
    {
      says: "make Rex red",
      calls: [["styleNodes"]],
      answers: ['No nodes are called or typed "Rex"', "Nothing was coloured"],
    },
  ],
  [
    {
      says: "zoom in on Shadow",
      calls: [["zoomToNodes"]],
      answers: ["Shadow"],
      never: ["Mittens", /did not work/i],
    },
  ],
  [{ says: "zoom in on the cats", calls: [["zoomToNodes"]], answers: ["Whiskers", "Shadow"] }],
];

const computing: readonly Talk[] = [
  [
    {
      says: "Which algorithms can you run?",
      calls: [["listAlgorithms"]],
      answers: ["PageRank", "shortest path"],
    },
  ],
  [{ says: "Run PageRank", calls: [["runAlgorithm", { algorithm: "pageRank" }]], answers: ["Old Mill"] }],
  [
    {
      says: "What is the shortest path from Whiskers to Grace?",
      calls: [["runAlgorithm", { algorithm: "shortestPath", from: "Whiskers", to: "Grace" }]],
      answers: ["Whiskers", "Grace"],
    },
  ],
  [{ says: "shortest path between Ada and Whiskers", calls: [["runAlgorithm"]], answers: ["1 step."] }],
  [
    {
      says: "How many connected components are there?",
      calls: [["runAlgorithm", { algorithm: "components" }]],
      answers: ["1"],
    },
  ],
  [
    {
      says: "Who has the most connections?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Shadow"],
    },
  ],
  [
    {
      says: "which node has the most connections?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Shadow", "7"],
    },
  ],
  [
    {
      says: "who is the most connected?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Shadow", "7"],
    },
  ],
];

const choosing: readonly Talk[] = [
  [
    { says: "Open the miserables graph", calls: [["openGraph", { name: "miserables" }]], answers: ["77"] },
    { says: "How many edges are there?", calls: [["queryGraph", { query: "edgeCount" }]], answers: ["254"] },
    {
      says: "Who has the most connections?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Valjean"],
    },
    { says: "go back to the pets graph", calls: [["openGraph", { name: "pets" }]], answers: ["20"] },
  ],
  [
    {
      says: "Open the miserables graph and tell me how many nodes it has",
      calls: [["openGraph"], ["queryGraph", { query: "nodeCount" }]],
      answers: ["77"],
    },
  ],
  [{ says: "Open the graph of the stars", status: "done", answers: [/pets|cannot|which/i] }],
];

/** Colours, layouts, algorithms and other graphs. */
export const doing: readonly Talk[] = [...styling, ...computing, ...choosing];
