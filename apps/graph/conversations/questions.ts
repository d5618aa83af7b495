import type { Conversation } from "capstan/testing/conversation-suite";

const rawMessages = [/^returned \d+ (?:node|edge) samples?\.?$/i, /"success"/, /nodeIds/];

const counting: readonly Conversation[] = [
  [
    {
      user: "How many nodes are there?",
      calls: [["queryGraph", { query: "nodeCount" }]],
      answers: ["20"],
      never: rawMessages,
    },
    { user: "what about the edges?", calls: [["queryGraph", { query: "edgeCount" }]], answers: ["30"] },
  ],
  [
    {
      user: "how many edges does the graph have",
      calls: [["queryGraph", { query: "edgeCount" }]],
      answers: ["30"],
    },
  ],
  [{ user: "hwo many ndoes are ther?", calls: [["queryGraph", { query: "nodeCount" }]], answers: ["20"] }],
  [{ user: "What types of nodes are there?", answers: ["cat", "human", "house", "toy", "food"] }],
  [
    {
      user: "What kinds of edges exist?",
      calls: [["queryGraph", { query: "edgeTypes" }]],
      answers: ["friend_of", "lives_in"],
    },
  ],
  [
    { user: "How many cats are there?", answers: ["3"], never: ["20"] },
    { user: "and how many humans?", answers: ["7"] },
  ],
  [{ user: "list all edge types", calls: [["queryGraph", { query: "edgeTypes" }]], answers: ["lives_in"] }],
  [{ user: "how many nodes and edges are there?", calls: [["queryGraph"]], answers: ["20", "30"] }],
  [{ user: "Give me an overview of the graph", answers: ["20", "30"] }],
];

const looking: readonly Conversation[] = [
  [
    {
      user: "What are some sample nodes?",
      calls: [["sampleData", { target: "nodes" }]],
      answers: ["Whiskers", "cat1", "tabby"],
      never: rawMessages,
    },
    { user: "and some edges?", calls: [["sampleData", { target: "edges" }]], answers: ["owner_of"] },
  ],
  [
    {
      user: "Show me 5 sample edges",
      calls: [["sampleData", { target: "edges", count: 5 }]],
      never: rawMessages,
    },
  ],
  [
    {
      user: "show me two example nodes",
      calls: [["sampleData", { target: "nodes", count: 2 }]],
      answers: ["Mittens"],
    },
  ],
  [{ user: "Which properties do the nodes have?", calls: [["getSchema"]], answers: ["breed", "age"] }],
  [{ user: "Describe the schema", calls: [["getSchema"]], answers: ["cat", "breed"] }],
  [
    {
      user: "Tell me about the property breed",
      calls: [["describeProperty", { property: "breed" }]],
      answers: ["tabby", "siamese"],
    },
  ],
  [
    {
      user: "What values does age have?",
      calls: [["describeProperty", { property: "age" }]],
      answers: ["3"],
    },
  ],
  [
    {
      user: "Who are the neighbours of Whiskers?",
      calls: [["queryGraph", { query: "neighbours", node: "Whiskers" }]],
      answers: ["Ada", "Maple Cottage"],
    },
    {
      user: "what about Mittens?",
      calls: [["queryGraph", { query: "neighbours", node: "Mittens" }]],
      answers: ["Ben"],
    },
  ],
  [
    {
      user: "What is connected to Shadow?",
      calls: [["queryGraph", { query: "neighbours" }]],
      answers: ["Chloe"],
    },
  ],
  [
    {
      user: "How many connections does Ada have?",
      calls: [["queryGraph", { query: "degree", node: "Ada" }]],
      answers: ["4"],
    },
  ],
];

const finding: readonly Conversation[] = [
  [
    {
      user: "Find all cats",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Mittens", "Shadow"],
      never: rawMessages,
    },
  ],
  [{ user: "List the humans", calls: [["findNodes"]], answers: ["Ada", "Grace"] }],
  [{ user: "Don't change the colours, just find the cats", calls: [["findNodes"]], answers: ["Mittens"] }],
  [{ user: "find everything named Maple", calls: [["findNodes"]], answers: ["Maple Cottage"] }],
  [{ user: "find al the cats pls", calls: [["findNodes"]], answers: ["Whiskers", "Mittens", "Shadow"] }],
  [
    {
      user: "Which cats are older than 4?",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Shadow"],
      never: ["Mittens"],
    },
  ],
  [
    {
      user: "find nodes where breed == 'persian'",
      calls: [["findNodes", { selector: "breed == 'persian'" }]],
      answers: ["Mittens"],
    },
  ],
  [{ user: "Find the node named Shadow", calls: [["findNodes"]], answers: ["Shadow"], never: ["Mittens"] }],
];

/** Parser terms, which belong in messages for the model but not in answers. */
const parserWords = [/at position/i, /expected one of/i, "nodeIds"];

const naming: readonly Conversation[] = [
  [{ user: "find Whiskers", calls: [["findNodes"]], answers: ["Whiskers"], never: ["Mittens", "types"] }],
  [
    {
      user: "find Whiskers and Mittens",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Mittens"],
      never: ["Shadow"],
    },
  ],
  [
    {
      user: "highlight Whiskers and Mittens",
      calls: [["findNodes"]],
      answers: ["Whiskers", "Mittens"],
      never: ["Shadow", ...parserWords],
    },
  ],
  [
    {
      user: "tell me about Whiskers",
      calls: [["queryGraph", { query: "node", node: "Whiskers" }]],
      answers: ["cat", "tabby", "5"],
    },
  ],
  [{ user: "how old is Whiskers?", calls: [["queryGraph", { node: "Whiskers" }]], answers: ["age 5"] }],
  [{ user: "who is Rex?", answers: ['No node has the name or type "Rex"'], never: ["Ben"] }],
  [{ user: "who owns Whiskers?", calls: [["queryGraph"]], answers: ["Ada", "owner_of"] }],
  [{ user: "tell me about the cats", calls: [["queryGraph"]], answers: ["Whiskers", "Mittens", "Shadow"] }],
  [{ user: "show me the schema", calls: [["getSchema"]], answers: ["breed"] }],
  [{ user: "show me the edges", calls: [["sampleData", { target: "edges" }]], answers: ["owner_of"] }],
  [{ user: "who is Grace?", calls: [["queryGraph", { node: "Grace" }]], answers: ["vet"] }],
  [
    {
      user: "find Rex",
      calls: [["findNodes"]],
      answers: ['No node has the name or type "Rex"', "human", "cat"],
      never: parserWords,
    },
  ],
  [
    {
      user: "find nodes where age bigger than 4",
      answers: ["No node has the name or type"],
      never: parserWords,
    },
  ],
];

const comparing: readonly Conversation[] = [
  [
    {
      user: "What is the average age of the cats?",
      calls: [["describeProperty", { property: "age", selector: "type == 'cat'", statistic: "average" }]],
      answers: ["Average age: 5."],
    },
  ],
  [{ user: "total price of the toys", calls: [["describeProperty"]], answers: ["Total price: 36."] }],
  [
    {
      user: "who is the oldest human?",
      calls: [["describeProperty"]],
      answers: ["Grace", "52"],
      never: ["Ben"],
    },
  ],
  [{ user: "which toy has the lowest price?", calls: [["describeProperty"]], answers: ["Wool Ball", "2"] }],
  [{ user: "who is older than 40?", calls: [["findNodes"]], answers: ["Ben", "Grace"], never: ["Ada"] }],
  [
    {
      user: "nodes with an age between 30 and 40",
      calls: [["findNodes"]],
      answers: ["Ada", "Dan"],
      never: ["Ben"],
    },
  ],
];

const relating: readonly Conversation[] = [
  [{ user: "who owns Mittens?", calls: [["queryGraph"]], answers: ["Ben"], never: ["Hill House", "Kibble"] }],
  [{ user: "what does Ada own?", calls: [["queryGraph"]], answers: ["Whiskers"], never: ["Maple"] }],
  [{ user: "who lives in Maple Cottage?", calls: [["queryGraph"]], answers: ["Whiskers", "Ada", "Eva"] }],
  [{ user: "who plays with the Wool Ball?", calls: [["queryGraph"]], answers: ["Whiskers", "Shadow"] }],
];

/** Counting, inspecting and finding, without changes. */
export const questions: readonly Conversation[] = [
  ...counting,
  ...looking,
  ...finding,
  ...naming,
  ...comparing,
  ...relating,
];
