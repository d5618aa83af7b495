import type { Conversation } from "capstan/testing/conversation-suite";
import { isHonest } from "./patterns.ts";

const rawMessages = [/^returned \d+ (?:node|edge) samples?\.?$/i, /"success"/, /nodeIds/];

const styling: readonly Conversation[] = [
  [
    {
      user: "Find all cats and make them blue",
      calls: [["findNodes"], ["styleNodes", { nodeIds: ["cat1", "cat2", "cat3"], color: "#0000ff" }]],
      answers: ["Whiskers", "Mittens", "Shadow"],
      never: rawMessages,
    },
    { user: "highlight them in green", calls: [["styleNodes", { color: "#008000" }]], answers: ["Whiskers"] },
    { user: "now make them red", calls: [["styleNodes", { color: "#ff0000" }]], answers: ["Whiskers"] },
    { user: "Clear all styles", calls: [["clearStyles"]] },
  ],
  [
    { user: "Style all dogs red", answers: ["cat", "human"], never: [/colored [1-9]/i, "Whiskers"] },
    { user: "yes, the cats", answers: ["Whiskers", "Mittens", "Shadow"] },
  ],
  [
    {
      user: "Color the humans green",
      calls: [["styleNodes", { color: "#008000" }]],
      answers: ["Ada", "Grace"],
    },
  ],
  [
    {
      user: "paint Whiskers purple",
      calls: [["styleNodes", { color: "#800080" }]],
      answers: ["Whiskers"],
      never: ["Mittens"],
    },
  ],
  [
    {
      user: "Make all nodes gray",
      calls: [["styleNodes", { selector: "*", color: "#808080" }]],
      answers: ["20"],
    },
  ],
  [
    {
      user: "Make the lives_in edges orange",
      calls: [["styleEdges", { color: "#ffa500" }]],
      answers: ["10"],
    },
  ],
  [
    {
      user: "colour all edges black",
      calls: [["styleEdges", { selector: "*", color: "#000000" }]],
      answers: ["30"],
    },
  ],
  [
    { user: "Find the humans", calls: [["findNodes"]], answers: ["Ada"] },
    { user: "zoom to them", calls: [["zoomToNodes"]], answers: ["7"] },
  ],
  [
    { user: "Find all cats", calls: [["findNodes"]] },
    {
      user: "make the second one yellow",
      calls: [["styleNodes", { color: "#ffff00" }]],
      answers: ["Mittens"],
      never: ["Shadow"],
    },
  ],
  [
    {
      user: "Make the cats blue and the humans red",
      calls: [
        ["styleNodes", { color: "#0000ff" }],
        ["styleNodes", { color: "#ff0000" }],
      ],
      answers: ["Whiskers", "Ada"],
    },
  ],
  [{ user: "Zoom to the cats", calls: [["zoomToNodes"]], answers: ["Whiskers"] }],
  [{ user: "Use the circle layout", calls: [["setLayout", { layout: "circle" }]], answers: ["circle"] }],
  [{ user: "arrange the nodes in a grid", calls: [["setLayout", { layout: "grid" }]], answers: ["grid"] }],
  [
    { user: "Make the cats pink", calls: [["styleNodes", { color: "#ffc0cb" }]] },
    { user: "and the humans too", calls: [["styleNodes", { color: "#ffc0cb" }]], answers: ["Ada"] },
    { user: "undo", calls: [], answers: [isHonest] },
  ],
  [
    { user: "colour Ada blue", calls: [["styleNodes", { color: "#0000ff" }]], answers: ["Ada"] },
    {
      user: "and Ben green",
      calls: [["styleNodes", { color: "#008000" }]],
      answers: ["Ben"],
      never: ["Ada"],
    },
  ],
  [{ user: "Are all nodes gray?", never: [/colored/i] }],
  [{ user: "Should I make the cats blue?", calls: [], never: [/colored/i] }],
  [{ user: "reset the colours", calls: [["clearStyles"]] }],
  [
    {
      user: "make Whiskers and Shadow orange",
      calls: [["styleNodes", { color: "#ffa500" }]],
      answers: ["orange", "2 nodes", "Whiskers", "Shadow"],
      never: ["Mittens"],
    },
  ],
  [
    {
      user: "make everything purple",
      calls: [["styleNodes", { selector: "*", color: "#800080" }]],
      answers: ["purple", "20 nodes"],
    },
  ],
  [
    {
      user: "make Rex red",
      calls: [["styleNodes"]],
      answers: ['No node has the name or type "Rex"', "Nothing was colored"],
    },
  ],
  [
    {
      user: "zoom in on Shadow",
      calls: [["zoomToNodes"]],
      answers: ["Shadow"],
      never: ["Mittens", /did not work/i],
    },
  ],
  [{ user: "zoom in on the cats", calls: [["zoomToNodes"]], answers: ["Whiskers", "Shadow"] }],
];

const computing: readonly Conversation[] = [
  [
    {
      user: "Which algorithms can you run?",
      calls: [["listAlgorithms"]],
      answers: ["PageRank", "shortest path"],
    },
  ],
  [{ user: "Run PageRank", calls: [["runAlgorithm", { algorithm: "pageRank" }]], answers: ["Old Mill"] }],
  [
    {
      user: "What is the shortest path from Whiskers to Grace?",
      calls: [["runAlgorithm", { algorithm: "shortestPath", from: "Whiskers", to: "Grace" }]],
      answers: ["Whiskers", "Grace"],
    },
  ],
  [{ user: "shortest path between Ada and Whiskers", calls: [["runAlgorithm"]], answers: ["Steps: 1."] }],
  [
    {
      user: "How many connected components are there?",
      calls: [["runAlgorithm", { algorithm: "components" }]],
      answers: ["1"],
    },
  ],
  [
    {
      user: "Who has the most connections?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Shadow"],
    },
  ],
  [
    {
      user: "which node has the most connections?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Shadow", "7"],
    },
  ],
  [
    {
      user: "who is the most connected?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Shadow", "7"],
    },
  ],
];

const choosing: readonly Conversation[] = [
  [
    { user: "Open the miserables graph", calls: [["openGraph", { name: "miserables" }]], answers: ["77"] },
    { user: "How many edges are there?", calls: [["queryGraph", { query: "edgeCount" }]], answers: ["254"] },
    {
      user: "Who has the most connections?",
      calls: [["runAlgorithm", { algorithm: "degree" }]],
      answers: ["Valjean"],
    },
    { user: "go back to the pets graph", calls: [["openGraph", { name: "pets" }]], answers: ["20"] },
  ],
  [
    {
      user: "Open the miserables graph and tell me how many nodes it has",
      calls: [["openGraph"], ["queryGraph", { query: "nodeCount" }]],
      answers: ["77"],
    },
  ],
  [{ user: "Open the graph of the stars", status: "done", answers: [/pets|cannot|which/i] }],
];

/** Colors, layouts, algorithms and other graphs. */
export const changes: readonly Conversation[] = [...styling, ...computing, ...choosing];
