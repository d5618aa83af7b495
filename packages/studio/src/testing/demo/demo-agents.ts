import { type Agent, agentTool, defineAgent } from "capstan";
import { bars, chart, diff, graph, map, table } from "../../widgets/widgets-fixture-data.ts";
import { createDemoModel, createDemoTool, type DemoClock, type DemoScript } from "./demo-model.ts";

const id = "anthropic/claude-sonnet-4-5";

const wayToD15 = `From the Terminal 2 checkpoint it is **240 m, about 3 minutes**, and step-free all the way.

1. Walk 110 m along Concourse D.
2. Take the lift to Level 2 and cross the sky deck.
3. Take the lift down. Gate D15 is on your left.

Boarding begins at 14:20, so there is time for a coffee: *Café Anker* is on the way.`;

const airportScript: DemoScript = (question, results) => {
  if (question.startsWith("Is there")) {
    return results === 0
      ? { ms: 900, calls: [{ name: "search", input: { query: "coffee", near: "Gate D15" } }] }
      : { ms: 1300, says: "Yes: **Café Anker**, 60 m from the gate on Level 1, is open until 22:00." };
  }
  if (question.startsWith("How late"))
    return results === 0
      ? { ms: 1100, calls: [{ name: "departures", input: { day: "today" } }] }
      : { ms: 1800, says: "Most flights leave on time. **89 minutes** is the longest wait today." };
  if (question.startsWith("When is"))
    return results === 0
      ? { ms: 1000, calls: [{ name: "waiting_times", input: { checkpoint: "T2" } }] }
      : {
          ms: 1500,
          says: "Come between **13:00** and **17:00**: you wait 5 minutes or less. It is longest around five in the morning.",
        };
  if (question.startsWith("How many"))
    return results === 0
      ? { ms: 900, calls: [{ name: "passengers", input: { months: 8 } }] }
      : { ms: 1200, says: "Arrivals and departures are close together; **May** was the busiest month." };
  if (results === 0)
    return {
      ms: 2400,
      thinks:
        "Two places to find: the checkpoint in Terminal 2 and gate D15. There is also an A15, but the user said D15. I will search for both at once.",
      calls: [
        { name: "search", input: { query: "Terminal 2 checkpoint" } },
        { name: "search", input: { query: "Gate D15" } },
      ],
    };
  if (results === 2)
    return {
      ms: 1200,
      calls: [
        { name: "show_directions", input: { from: "T2 checkpoint", to: "Gate D15", accessible: true } },
      ],
    };
  return { ms: 2900, says: wayToD15 };
};

function createAirportAgent(clock: DemoClock): Agent {
  const tools = [
    createDemoTool(clock, {
      name: "search",
      description: "Finds places by name and category",
      ms: 140,
      answer: {
        content: "1 place found.",
        message: "1 place found",
        data: { places: [{ name: "Gate D15", level: 1, metres: 240 }] },
      },
    }),
    createDemoTool(clock, {
      name: "show_directions",
      description: "Draws a way on the map",
      ms: 620,
      answer: { content: "240 m, 3 minutes, step-free.", message: "240 m, 3 minutes", ui: map },
    }),
    createDemoTool(clock, {
      name: "departures",
      description: "The departures of a day",
      ms: 480,
      answer: { content: "5000 departures.", message: "5,000 departures", ui: table },
    }),
    createDemoTool(clock, {
      name: "waiting_times",
      description: "How long people wait at a checkpoint",
      ms: 350,
      answer: { content: "24 hours.", message: "The last 24 hours", ui: chart },
    }),
    createDemoTool(clock, {
      name: "passengers",
      description: "Passengers by month",
      ms: 300,
      answer: { content: "8 months.", message: "8 months", ui: bars },
    }),
  ];
  const instructions =
    "You help travellers at Harbor International, a fictional airport. Never guess a gate.";
  return defineAgent({
    name: "airport",
    model: createDemoModel({ id, clock, script: airportScript }),
    instructions,
    tools,
  });
}

const docstring = {
  path: "src/example.py",
  edits: [
    {
      find: 'def greet(name):\n    print("Hello " + name)',
      replace:
        'def greet(name: str) -> None:\n    """Says hello to somebody by name."""\n    print(f"Hello {name}")',
    },
  ],
};

const filesScript: DemoScript = (_question, results) => {
  if (results === 0)
    return {
      ms: 1100,
      says: "I read the file first.",
      calls: [{ name: "read_file", input: { path: "src/example.py" } }],
    };
  if (results === 1)
    return {
      ms: 2100,
      says: "`greet` has no docstring yet. I add one, with types.",
      calls: [{ name: "edit_file", input: docstring }],
    };
  return { ms: 1400, says: "Done. `greet` says what it does, and its parameter has a type." };
};

function createFilesAgent(clock: DemoClock): Agent {
  const tools = [
    createDemoTool(clock, {
      name: "read_file",
      description: "Reads a file of the workspace",
      ms: 60,
      reads: ["private"],
      answer: {
        content: 'import sys\n\ndef greet(name):\n    print("Hello " + name)\n\ngreet(sys.argv[1])',
        message: "6 lines",
      },
    }),
    createDemoTool(clock, {
      name: "edit_file",
      description: "Changes a file of the workspace",
      ms: 90,
      effects: "state",
      needsApproval: "Changes src/example.py.",
      answer: { content: "Changed src/example.py.", message: "5 lines added, 3 removed", ui: diff },
    }),
  ];
  const instructions = "You work on the files of one folder. Read before you write.";
  return defineAgent({
    name: "files",
    model: createDemoModel({ id, clock, script: filesScript }),
    instructions,
    tools,
  });
}

const graphScript: DemoScript = (_question, results) => {
  if (results === 0)
    return { ms: 1300, calls: [{ name: "find_nodes", input: { selector: 'type == "cat"' } }] };
  if (results === 1)
    return {
      ms: 1000,
      calls: [{ name: "style_nodes", input: { ids: ["cat1", "cat2", "cat3"], color: "#0000ff" } }],
    };
  return { ms: 1600, says: "Three cats are blue now: **Whiskers**, **Mittens** and **Shadow**." };
};

function createGraphAgent(clock: DemoClock): Agent {
  const tools = [
    createDemoTool(clock, {
      name: "find_nodes",
      description: "Finds nodes by a selector",
      ms: 30,
      answer: { content: "3 nodes.", message: "3 nodes" },
    }),
    createDemoTool(clock, {
      name: "style_nodes",
      description: "Changes how nodes look",
      ms: 40,
      effects: "state",
      answer: {
        content: "3 nodes changed.",
        message: "3 nodes changed",
        affected: { nodes: ["cat1", "cat2", "cat3"] },
        ui: { ...graph, props: { ...graph.props, replies: ["Make them red again", "What about the dogs?"] } },
      },
    }),
  ];
  const instructions = "You answer questions about a graph, and change how it looks.";
  return defineAgent({
    name: "graph",
    model: createDemoModel({ id, clock, script: graphScript }),
    instructions,
    tools,
  });
}

const passages = [
  {
    id: "lru-ttl",
    content:
      "Entries are dropped when they are asked for after their time, not by a timer. Set ttlAutopurge to have a timer for each of them.",
    source: { title: "lru-cache: README, time to live", url: "https://docs.example/lru-cache/ttl" },
  },
  {
    id: "keyv-ttl",
    content: "The time is kept beside the value. An adapter that can expire by itself is told the time.",
    source: { title: "keyv: README, expiry", url: "https://docs.example/keyv/expiry" },
  },
];

const found = {
  kind: "sources",
  props: {
    title: "Passages found",
    sources: passages.map(({ content, source }, at) => ({
      n: at + 1,
      ...source,
      text: content,
      cited: [content.slice(0, content.indexOf(".") + 1)],
    })),
  },
};

const comparison = `Both keep a time for each entry, but they act on it differently.

| | lru-cache | keyv |
| :-- | :-- | :-- |
| Where the time is | in memory, beside the entry [1] | beside the value, in the store [2] |
| When it is dropped | when it is asked for [1] | by the store, if it can [2] |
| A timer for each | only with \`ttlAutopurge\` [1] | never |

For a cache that must not grow in quiet hours, set \`ttlAutopurge\`, or use a store that expires by itself.`;

function createKnowledgeAgent(clock: DemoClock): Agent {
  const search = createDemoTool(clock, {
    name: "search_docs",
    description: "Searches the documentation on this machine",
    ms: 240,
    answer: { content: "2 passages.", message: "2 passages found", contexts: passages, ui: found },
  });
  const researcherScript: DemoScript = (_question, results) =>
    results === 0
      ? { ms: 1500, calls: [{ name: "search_docs", input: { query: "expire entries ttl", limit: 4 } }] }
      : {
          ms: 1900,
          says: "lru-cache drops an entry when it is asked for [1]; keyv leaves it to the store [2].",
        };
  const researcher = defineAgent({
    name: "researcher",
    model: createDemoModel({ id: "openai/gpt-5-mini", clock, script: researcherScript }),
    instructions: "You find passages, and say which one has what.",
    tools: [search],
  });
  const script: DemoScript = (_question, results) => {
    if (results === 0)
      return {
        ms: 2200,
        thinks: "The question compares two packages. The researcher has the documentation of both.",
        calls: [
          { name: "ask_researcher", input: { prompt: "How do lru-cache and keyv expire entries?" } },
          { name: "search_docs", input: { query: "ttlAutopurge" } },
        ],
      };
    return { ms: 4200, says: comparison };
  };
  const ask = agentTool(researcher, { name: "ask_researcher", description: "Asks the researcher" });
  return defineAgent({
    name: "knowledge",
    model: createDemoModel({ id, clock, script }),
    instructions: "You answer from the documentation on this machine, with the number of each source.",
    tools: [ask, search],
  });
}

function createArchivistAgent(clock: DemoClock): Agent {
  const script: DemoScript = (_question, results) => ({
    ms: 900,
    calls: [
      {
        name: "search_archive",
        input: { query: ["treaty", "treaty of the harbor", "harbor 1911"][results] ?? "harbor" },
      },
    ],
  });
  const tools = [
    createDemoTool(clock, {
      name: "search_archive",
      description: "Searches the archive",
      ms: 400,
      answer: { content: "Nothing but a hint on page 9.", message: "1 hint" },
    }),
  ];
  const policy = { maxTurns: 3, finalTurn: "keep-tools" } as const;
  return defineAgent({ name: "archivist", model: createDemoModel({ id, clock, script }), tools, policy });
}

/** Agents for screenshots: a map, files, a graph, sources, a limit. */
export function createDemoAgents(clock: DemoClock): readonly [Agent, ...Agent[]] {
  return [
    createAirportAgent(clock),
    createFilesAgent(clock),
    createGraphAgent(clock),
    createKnowledgeAgent(clock),
    createArchivistAgent(clock),
  ];
}
