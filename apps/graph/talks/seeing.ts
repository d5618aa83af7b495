import type { Talk } from "capstan/testing/talks-suite";

const rawMessages = [/^returned \d+ (?:node|edge) samples?\.?$/i, /"success"/, /nodeIds/];

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

/** A position in a selector is for models; people are told in words. */
const parserWords = [/at position/i, /expected one of/i, "nodeIds"];

const naming: readonly Talk[] = [
  [{ says: "find Whiskers", calls: [["findNodes"]], answers: ["Whiskers"], never: ["Mittens", "types"] }],
  [
    {
      says: "find Whiskers and Mittens",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Mittens"],
      never: ["Shadow"],
    },
  ],
  [
    {
      says: "highlight Whiskers and Mittens",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Mittens"],
      never: ["Shadow", ...parserWords],
    },
  ],
  [
    {
      says: "tell me about Whiskers",
      calls: [["queryGraph", { query: "node", node: "Whiskers" }]],
      answers: ["cat", "tabby", "5"],
    },
  ],
  [{ says: "how old is Whiskers?", calls: [["queryGraph", { node: "Whiskers" }]], answers: ["age 5"] }],
  [{ says: "who is Rex?", answers: ['No nodes are called or typed "Rex"'], never: ["Ben"] }],
  [{ says: "who owns Whiskers?", calls: [["queryGraph"]], answers: ["Ada", "owner_of"] }],
  [{ says: "tell me about the cats", calls: [["queryGraph"]], answers: ["Whiskers", "Mittens", "Shadow"] }],
  [{ says: "show me the schema", calls: [["getSchema"]], answers: ["breed"] }],
  [{ says: "show me the edges", calls: [["sampleData", { target: "edges" }]], answers: ["owner_of"] }],
  [{ says: "who is Grace?", calls: [["queryGraph", { node: "Grace" }]], answers: ["vet"] }],
  [
    {
      says: "find Rex",
      calls: [["findNodes"]],
      answers: ['No nodes are called or typed "Rex"', "human", "cat"],
      never: parserWords,
    },
  ],
  [
    {
      says: "find nodes where age bigger than 4",
      answers: ["No nodes are called or typed"],
      never: parserWords,
    },
  ],
];

/** Counting, looking and finding: nothing changes. */
export const seeing: readonly Talk[] = [...counting, ...looking, ...finding, ...naming];
