// What people say to the graph explorer, in the words they would use, and what must come of it.

import type { Talk } from "capstan/testing/talks-suite";

const rawMessages = [/^returned \d+ (?:node|edge) samples?\.?$/i, /"success"/, /nodeIds/];
const isHonest = /cannot|can't|do not|don't|no tool|not able|only/i;

const counting: readonly Talk[] = [
  [
    {
      says: "How many nodes are there?",
      calls: [["queryGraph", { query: "nodeCount" }]],
      answers: ["20"],
      never: rawMessages,
    },
    { says: "what about the edges?", calls: [["queryGraph", { query: "edgeCount" }]], answers: ["30"] },
  ],
  [
    {
      says: "how many edges does the graph have",
      calls: [["queryGraph", { query: "edgeCount" }]],
      answers: ["30"],
    },
  ],
  [{ says: "hwo many ndoes are ther?", calls: [["queryGraph", { query: "nodeCount" }]], answers: ["20"] }],
  [{ says: "What types of nodes are there?", answers: ["cat", "human", "house", "toy", "food"] }],
  [
    {
      says: "What kinds of edges exist?",
      calls: [["queryGraph", { query: "edgeTypes" }]],
      answers: ["friend_of", "lives_in"],
    },
  ],
  [
    { says: "How many cats are there?", answers: ["3"], never: ["20"] },
    { says: "and how many humans?", answers: ["7"] },
  ],
  [{ says: "list all edge types", calls: [["queryGraph", { query: "edgeTypes" }]], answers: ["lives_in"] }],
  [{ says: "how many nodes and edges are there?", calls: [["queryGraph"]], answers: ["20", "30"] }],
  [{ says: "Give me an overview of the graph", answers: ["20", "30"] }],
];

const looking: readonly Talk[] = [
  [
    {
      says: "What are some sample nodes?",
      calls: [["sampleData", { target: "nodes" }]],
      answers: ["Whiskers", "cat1", "tabby"],
      never: rawMessages,
    },
    { says: "and some edges?", calls: [["sampleData", { target: "edges" }]], answers: ["owner_of"] },
  ],
  [
    {
      says: "Show me 5 sample edges",
      calls: [["sampleData", { target: "edges", count: 5 }]],
      never: rawMessages,
    },
  ],
  [
    {
      says: "show me two example nodes",
      calls: [["sampleData", { target: "nodes", count: 2 }]],
      answers: ["Mittens"],
    },
  ],
  [{ says: "Which properties do the nodes have?", calls: [["getSchema"]], answers: ["breed", "age"] }],
  [{ says: "Describe the schema", calls: [["getSchema"]], answers: ["cat", "breed"] }],
  [
    {
      says: "Tell me about the property breed",
      calls: [["describeProperty", { property: "breed" }]],
      answers: ["tabby", "siamese"],
    },
  ],
  [
    {
      says: "What values does age have?",
      calls: [["describeProperty", { property: "age" }]],
      answers: ["3"],
    },
  ],
  [
    {
      says: "Who are the neighbours of Whiskers?",
      calls: [["queryGraph", { query: "neighbours", node: "Whiskers" }]],
      answers: ["Ada", "Maple Cottage"],
    },
    {
      says: "what about Mittens?",
      calls: [["queryGraph", { query: "neighbours", node: "Mittens" }]],
      answers: ["Ben"],
    },
  ],
  [
    {
      says: "What is connected to Shadow?",
      calls: [["queryGraph", { query: "neighbours" }]],
      answers: ["Chloe"],
    },
  ],
  [
    {
      says: "How many connections does Ada have?",
      calls: [["queryGraph", { query: "degree", node: "Ada" }]],
      answers: ["4"],
    },
  ],
];

const finding: readonly Talk[] = [
  [
    {
      says: "Find all cats",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Mittens", "Shadow"],
      never: rawMessages,
    },
  ],
  [{ says: "List the humans", calls: [["findNodes"]], answers: ["Ada", "Grace"] }],
  [{ says: "Don't change the colours, just find the cats", calls: [["findNodes"]], answers: ["Mittens"] }],
  [{ says: "find everything named Maple", calls: [["findNodes"]], answers: ["Maple Cottage"] }],
  [{ says: "find al the cats pls", calls: [["findNodes"]], answers: ["Whiskers", "Mittens", "Shadow"] }],
  [
    {
      says: "Which cats are older than 4?",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Shadow"],
      never: ["Mittens"],
    },
  ],
  [
    {
      says: "find nodes where breed == 'persian'",
      calls: [["findNodes", { selector: "breed == 'persian'" }]],
      answers: ["Mittens"],
    },
  ],
  [{ says: "Find the node named Shadow", calls: [["findNodes"]], answers: ["Shadow"], never: ["Mittens"] }],
];

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

const outside: readonly Talk[] = [
  [{ says: "Hello", calls: [] }],
  [{ says: "thanks!", calls: [], answers: ["welcome"] }],
  [{ says: "What can you do?", calls: [], answers: ["findNodes"] }],
  [{ says: "What will the weather be tomorrow?", calls: [], answers: [isHonest] }],
  [{ says: "Send an email to Ada", calls: [], answers: [isHonest] }],
  [{ says: "Delete the node Shadow", calls: [], answers: [isHonest] }],
  [{ says: "Who wrote Les Misérables?", calls: [], answers: [isHonest], never: ["Hugo"] }],
];

const seeing: readonly Talk[] = [...counting, ...looking, ...finding];
const doing: readonly Talk[] = [...styling, ...computing, ...choosing];

export const talks: readonly Talk[] = [...seeing, ...doing, ...outside];
