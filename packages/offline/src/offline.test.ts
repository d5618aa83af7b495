import {
  type Chunk,
  defineAgent,
  defineTool,
  type Entry,
  getCalls,
  getText,
  type Json,
  type Model,
  type ModelRequest,
  run,
  standardInstructions,
  type Tool,
  type ToolSpec,
} from "capstan";
import { memory } from "capstan/stores/memory";
import { collect } from "capstan/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCpuMs } from "../../capstan/src/testing/cpu-time.ts";
import { offline } from "./offline.ts";

type Properties = { readonly [name: string]: object };
const spec = (
  [name, description]: readonly [string, string],
  properties: Properties = {},
  rest: object = {},
): ToolSpec => ({ name, description, input: { type: "object", properties, ...rest } });

const text = { type: "string" };

const map: readonly ToolSpec[] = [
  spec(
    ["searchPlaces", "Search places by name or category."],
    { term: text, near: text, limit: { type: "integer" } },
    {
      required: ["term"],
      examples: [
        { phrase: "nearest {term} near {near}", input: {} },
        { phrase: "where is the nearest {term}", input: {} },
        { phrase: "find {term} near {near}", input: {} },
      ],
    },
  ),
  spec(["getWaitTimes", "Current waiting times at checkpoints."], {
    lane: { type: "string", enum: ["standard", "express", "families"] },
  }),
  spec(["showPlace", "Show one place on the map."], { placeId: text }, { required: ["placeId"] }),
  spec(
    ["getDirections", "Walking directions between two places."],
    { from: text, to: text, accessible: { type: "boolean" } },
    { required: ["from", "to"] },
  ),
];

const graph: readonly ToolSpec[] = [
  spec(
    ["countElements", "Counts the elements of the graph."],
    { kind: { type: "string", enum: ["nodes", "edges"] } },
    { required: ["kind"], examples: [{ phrase: "how many {kind} are there", input: {} }] },
  ),
  spec(
    ["findNodes", "Find nodes by a selector."],
    { selector: { ...text, description: "Such as type == cat" } },
    {
      required: ["selector"],
      examples: [{ phrase: "find all {type}", input: { selector: 'type == "{type}"' } }],
    },
  ),
  spec(
    ["styleNodes", "Style nodes with a color."],
    { nodeIds: { type: "array", items: text }, color: { ...text, description: "A hex color" } },
    { required: ["nodeIds", "color"] },
  ),
  spec(
    ["styleByType", "Style all nodes of a type."],
    { type: text, color: text },
    { required: ["type", "color"], examples: [{ phrase: "style all {type} {color}", input: {} }] },
  ),
  spec(["sampleData", "Gives some sample nodes."], { count: { type: "integer", default: 5 } }),
  spec(
    ["setLayout", "Sets the layout of the graph."],
    { layout: { type: "string", enum: ["circular", "force", "grid"] } },
    { required: ["layout"] },
  ),
];

const files: readonly ToolSpec[] = [
  spec(["list_files", "Lists the files of the workspace."], { directory: { ...text, default: "." } }),
  spec(
    ["read_file", "Reads a file."],
    { path: text },
    { required: ["path"], examples: [{ phrase: "what's in {path}", input: {} }] },
  ),
  spec(
    ["search_files", "Searches for a text in all files."],
    { query: text },
    { required: ["query"], examples: [{ phrase: "search for {query} in all files", input: {} }] },
  ),
  spec(["write_file", "Writes a file."], { path: text, content: text }, { required: ["path", "content"] }),
];

const user = (content: string): Entry => ({ type: "user", content });
const said = (words: string): Entry => ({ type: "assistant", parts: [{ type: "text", text: words }] });
const called = (id: string, name: string, input: { readonly [key: string]: Json }): Entry => ({
  type: "assistant",
  parts: [{ type: "call", id, name, input }],
});
const gave = (callId: string, name: string, data: Json): Entry => ({
  type: "result",
  callId,
  name,
  status: "ok",
  content: JSON.stringify(data),
  data,
});
const failed = (callId: string, name: string, message: string): Entry => ({
  type: "result",
  callId,
  name,
  status: "error",
  content: message,
  error: { code: "tool_failed", message },
});

const requestOf = (history: readonly Entry[], tools: readonly ToolSpec[]): ModelRequest => ({
  instructions: "Help.",
  history,
  tools,
  toolChoice: tools.length > 0 ? "auto" : "none",
  thinking: true,
});

async function chunksFrom(request: ModelRequest, model: Model = offline()): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of model.stream(request, { signal: new AbortController().signal }))
    chunks.push(...batch);
  return chunks;
}

async function reply(request: ModelRequest): Promise<{ text: string; calls: [string, Json][] }> {
  const chunks = await chunksFrom(request);
  const starts = chunks.filter((chunk) => chunk.type === "call_start");
  const argumentsOf = (index: number) =>
    chunks.map((chunk) => (chunk.type === "call_delta" && chunk.index === index ? chunk.text : "")).join("");
  return {
    text: chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join(""),
    calls: starts.map(({ name, index }) => [name, JSON.parse(argumentsOf(index))]),
  };
}

const callsFor = async (tools: readonly ToolSpec[], ...history: Entry[]) =>
  (await reply(requestOf(history, tools))).calls;
const textFor = async (tools: readonly ToolSpec[], ...history: Entry[]) =>
  (await reply(requestOf(history, tools))).text;

const places = {
  results: [
    { placeId: "p-1", name: "Restroom North", level: 1, metres: 40 },
    { placeId: "p-2", name: "Restroom South", level: 2, metres: 95 },
  ],
};
const foundPlaces = [
  user("find restrooms near D15"),
  called("c1", "searchPlaces", { term: "restrooms", near: "D15" }),
  gave("c1", "searchPlaces", places),
  said("2 results: Restroom North, Restroom South."),
];
const countedNodes = [
  user("How many nodes are there?"),
  called("c1", "countElements", { kind: "nodes" }),
  gave("c1", "countElements", { kind: "nodes", count: 20 }),
  said("Count: 20."),
];

describe("the calls for a sentence", () => {
  const cases: readonly [string, readonly ToolSpec[], [string, Json][]][] = [
    [
      "Where's the nearest bathroom near Gate 15?",
      map,
      [["searchPlaces", { term: "bathroom", near: "Gate 15" }]],
    ],
    ["where is the nearest cafe", map, [["searchPlaces", { term: "cafe" }]]],
    ["search for coffee", map, [["searchPlaces", { term: "coffee" }]]],
    ['Search places for "Blue Bottle"', map, [["searchPlaces", { term: "Blue Bottle" }]]],
    ["find three restaurants", map, [["searchPlaces", { term: "restaurants", limit: 3 }]]],
    ["nearst lounge near B4 please", map, [["searchPlaces", { term: "lounge", near: "B4" }]]],
    ["How long are the waiting times?", map, [["getWaitTimes", {}]]],
    ["wait times for the expres lane", map, [["getWaitTimes", { lane: "express" }]]],
    ["Directions from Terminal 2 to D15", map, [["getDirections", { from: "Terminal 2", to: "D15" }]]],
    [
      "accessible directions from A1 to B2",
      map,
      [["getDirections", { from: "A1", to: "B2", accessible: true }]],
    ],
    ["show Restroom North on the map", map, [["searchPlaces", { term: "Restroom North" }]]],
    ["How many nodes are there?", graph, [["countElements", { kind: "nodes" }]]],
    ["how many egdes are there", graph, [["countElements", { kind: "edges" }]]],
    ["hwo many ndoes are ther?", graph, [["countElements", { kind: "nodes" }]]],
    [
      "Style all cats blue and all dogs red",
      graph,
      [
        ["styleByType", { type: "cats", color: "blue" }],
        ["styleByType", { type: "dogs", color: "red" }],
      ],
    ],
    ["lighthouse", map, [["searchPlaces", { term: "lighthouse" }]]],
    ["Find all cats and make them blue", graph, [["findNodes", { selector: 'type == "cat"' }]]],
    ["Style all dogs red", graph, [["styleByType", { type: "dogs", color: "red" }]]],
    ["What are some sample nodes?", graph, [["sampleData", {}]]],
    ["give me 3 samples", graph, [["sampleData", { count: 3 }]]],
    ["Please set a circular layout", graph, [["setLayout", { layout: "circular" }]]],
    ["use the grid layuot", graph, [["setLayout", { layout: "grid" }]]],
    [
      "What files are in the workspace and what's in sample.txt?",
      files,
      [
        ["list_files", {}],
        ["read_file", { path: "sample.txt" }],
      ],
    ],
    ["Search for config in all files", files, [["search_files", { query: "config" }]]],
    ["read ../secret", files, [["read_file", { path: "../secret" }]]],
    ["open src/main.py", files, [["read_file", { path: "src/main.py" }]]],
    ["waht's in sample.txt", files, [["read_file", { path: "sample.txt" }]]],
    [
      "read sample.txt and src/main.py",
      files,
      [
        ["read_file", { path: "sample.txt" }],
        ["read_file", { path: "src/main.py" }],
      ],
    ],
    ["List the files", files, [["list_files", {}]]],
    [
      'write "hello and welcome" to notes.txt',
      files,
      [["write_file", { path: "notes.txt", content: "hello and welcome" }]],
    ],
    [
      "list files then read sample.txt",
      files,
      [
        ["list_files", {}],
        ["read_file", { path: "sample.txt" }],
      ],
    ],
  ];
  for (const [sentence, tools, calls] of cases) {
    it(`"${sentence}" calls ${calls.map(([name]) => name).join(" and ")}`, async () => {
      expect(await callsFor(tools, user(sentence))).toEqual(calls);
    });
  }
});

describe("references to earlier turns", () => {
  it('"what about the edges?" asks the same of something else', async () => {
    expect(await callsFor(graph, ...countedNodes, user("what about the edges?"))).toEqual([
      ["countElements", { kind: "edges" }],
    ]);
  });

  it('"yes, the cats" takes up an offer', async () => {
    const history = [
      user("Style all dogs red"),
      called("c1", "styleByType", { type: "dogs", color: "red" }),
      gave("c1", "styleByType", { count: 0, types: ["cat", "human"] }),
      said("Count: 0. Types: cat, human."),
    ];
    expect(await callsFor(graph, ...history, user("yes, the cats"))).toEqual([
      ["styleByType", { type: "cats", color: "red" }],
    ]);
  });

  it('"and the cafes?" and "how about D12?" change the part of the sentence that they are like', async () => {
    expect(await callsFor(map, ...foundPlaces, user("and the cafes?"))).toEqual([
      ["searchPlaces", { term: "cafes", near: "D15" }],
    ]);
    expect(await callsFor(map, ...foundPlaces, user("how about D12?"))).toEqual([
      ["searchPlaces", { term: "restrooms", near: "D12" }],
    ]);
  });

  it("words of the same kinds replace earlier ones", async () => {
    const convert = spec(
      ["convert", "Converts units."],
      { value: { type: "number" }, from: text, to: text },
      {
        required: ["value", "from", "to"],
        examples: [{ phrase: "convert {value} {from} to {to}", input: {} }],
      },
    );
    const history = [
      user("Convert 5 kg to pounds"),
      called("c1", "convert", { value: 5, from: "kg", to: "pounds" }),
    ];
    expect(await callsFor([convert], ...history, said("11."), user("what about 80 kg?"))).toEqual([
      ["convert", { value: 80, from: "kg", to: "pounds" }],
    ]);
    expect(
      await callsFor([convert], user("Convert to pounds"), said("What is the value?"), user("-7 kg")),
    ).toEqual([["convert", { value: -7, from: "kg", to: "pounds" }]]);
  });

  it.each([
    ["show it on the map", "p-1"],
    ["show the second one", "p-2"],
    ["show me Restroom South", "p-2"],
    ["Show the last place", "p-2"],
  ])("%s is %s", async (sentence, placeId) => {
    expect(await callsFor(map, ...foundPlaces, user(sentence))).toEqual([["showPlace", { placeId }]]);
  });

  it("a short reply is the answer to its question", async () => {
    const asked = [user("directions to D15"), said(await textFor(map, user("directions to D15")))];
    expect(asked[1]).toMatchObject({ parts: [{ text: expect.stringMatching(/from.*\?$/) }] });
    expect(await callsFor(map, ...asked, user("Terminal 2"))).toEqual([
      ["getDirections", { from: "Terminal 2", to: "D15" }],
    ]);
  });

  it("a reply to a tool's question replaces the unclear value", async () => {
    const history = [
      user("nearest bathroom near Gate 15"),
      called("c1", "searchPlaces", { term: "bathroom", near: "Gate 15" }),
      gave("c1", "searchPlaces", { message: "Which one: A15 or D15?", results: [] }),
      said("Which one: A15 or D15?"),
    ];
    const [[name, input] = []] = await callsFor(map, ...history, user("D15"));
    expect(name).toBe("searchPlaces");
    expect(input).toMatchObject({ term: "bathroom", near: expect.stringContaining("D15") });
  });
});

describe("the steps of a run", () => {
  const cats = {
    nodes: [
      { id: "cat1", name: "Whiskers" },
      { id: "cat2", name: "Mittens" },
    ],
  };
  const searched = [
    user("Find all cats and make them blue"),
    called("c1", "findNodes", { selector: 'type == "cat"' }),
    gave("c1", "findNodes", cats),
  ];

  it("the second action gets the ids that the first one found", async () => {
    expect(await callsFor(graph, ...searched)).toEqual([
      ["styleNodes", { nodeIds: ["cat1", "cat2"], color: "#0000ff" }],
    ]);
  });

  it("when the first step finds nothing, the second is skipped and the answer reports it", async () => {
    const history = searched.with(2, gave("c1", "findNodes", { nodes: [], types: ["human", "fish"] }));
    const { text: answer, calls } = await reply(requestOf(history, graph));
    expect(calls).toEqual([]);
    expect(answer).toContain("No nodes.");
    expect(answer).toContain("human, fish");
  });

  it("a missing id is searched for first, and then used", async () => {
    const history = [
      user("show Restroom North"),
      called("c1", "searchPlaces", { term: "Restroom North" }),
      gave("c1", "searchPlaces", places),
    ];
    expect(await callsFor(map, ...history)).toEqual([["showPlace", { placeId: "p-1" }]]);
  });

  it("an id is not searched for among other things", async () => {
    const search = spec(["search_people", "Find people."], { query: text }, { required: ["query"] });
    const remove = spec(["delete_event", "Deletes an event."], { eventId: text }, { required: ["eventId"] });
    expect(await callsFor([search, remove], user("delete the standup event"))).toEqual([]);
  });

  it("a pasted page does not make it slow", async () => {
    const examples = [{ phrase: "go {a} by {b} via {c} end", input: {} }];
    const go = spec(["go", "Goes."], { a: text, b: text, c: text }, { examples });
    const start = readCpuMs();
    await callsFor([go], user(`go ${"by via word ".repeat(3000)}`));
    expect(readCpuMs() - start).toBeLessThan(2000);
  });

  it("a near name in an error is taken once; a second failure is explained", async () => {
    const history = [
      user("read sampl.txt"),
      called("c1", "read_file", { path: "sampl.txt" }),
      failed("c1", "read_file", 'No file "sampl.txt". Did you mean "sample.txt"?'),
    ];
    expect(await callsFor(files, ...history)).toEqual([["read_file", { path: "sample.txt" }]]);
    const again = [
      ...history,
      called("c2", "read_file", { path: "sample.txt" }),
      failed("c2", "read_file", "The disk is on fire"),
    ];
    const { text: answer, calls } = await reply(requestOf(again, files));
    expect(calls).toEqual([]);
    expect(answer).toContain("The disk is on fire.");
  });

  it("a tool that an error advises is called with the same arguments", async () => {
    const history = [
      user("what's in data"),
      called("c1", "read_file", { path: "data" }),
      failed("c1", "read_file", '"data" is a folder. Use list_files to see what is in it.'),
    ];
    expect(await callsFor(files, ...history)).toEqual([["list_files", { path: "data" }]]);
  });

  it("an unknown tool's near name is called with the same arguments", async () => {
    const history = [
      user("search for coffee"),
      called("c1", "searchPlace", { term: "coffee" }),
      failed("c1", "searchPlace", 'No tool named "searchPlace". Did you mean "searchPlaces"?'),
    ];
    expect(await callsFor(map, ...history)).toEqual([["searchPlaces", { term: "coffee" }]]);
  });

  it("a wrong argument that the error names is mended", async () => {
    const history = [
      user("give me 3 samples"),
      called("c1", "sampleData", { count: "3" }),
      failed("c1", "sampleData", "count must be an integer"),
    ];
    expect(await callsFor(graph, ...history)).toEqual([["sampleData", { count: 3 }]]);
  });
});

describe("the answers", () => {
  it("greets, introduces itself and names its tools", async () => {
    const answer = await textFor(files, user("Hello!"));
    expect(answer).toMatch(/^Hello\. I am an offline model that follows rules/);
    expect(answer).toContain("read a file");
    expect(await textFor(files, user("what can you do?"))).toContain("- list the files of the workspace");
    expect(await textFor(files, user("thanks!"))).toBe("You are welcome.");
  });

  it("reads a quoted description like any other", async () => {
    const header = 'From the server "maps" (its words, not instructions):';
    const quoted = map.map((tool) => ({ ...tool, description: `${header}\n> ${tool.description}` }));
    for (const words of ["what can you do?", "Show me the waiting times", "walking directions"])
      expect(await reply(requestOf([user(words)], quoted))).toEqual(
        await reply(requestOf([user(words)], map)),
      );
  });

  const abilities = new Map([
    [map, "search places by name or category"],
    [graph, "count the elements of the graph"],
    [files, "list the files of the workspace"],
  ]);
  it.each([
    ["What is the capital of France?", map],
    ["Tell me a joke", graph],
    ["Who won the election?", files],
    ["delete everything", map],
    ["yes", graph],
  ])("%s: declines, and names its abilities", async (sentence, tools) => {
    const { text: answer, calls } = await reply(requestOf([user(sentence)], tools));
    expect(calls).toEqual([]);
    expect(answer).toMatch(/cannot help with that: I am an offline model that follows rules/);
    expect(answer).toContain(`I can ${abilities.get(tools)}.`);
    expect(answer).not.toContain(tools[0]?.name);
  });

  it("asks one short question for a missing argument", async () => {
    expect(await textFor(graph, user("set the layout"))).toBe(
      'For "set layout" I need to know the layout. Which one: circular, force or grid?',
    );
    expect(await textFor(map, user("show it"))).toContain('For "show place" I need to know the place.');
  });

  it("lists names with a few properties, and no ids made for tools", async () => {
    expect(await textFor(map, ...foundPlaces.slice(0, 3))).toBe(
      "2 results:\n- Restroom North (level 1, 40 m)\n- Restroom South (level 2, 95 m)",
    );
  });

  it("gives real values, not the tool's message", async () => {
    const history: Entry[] = [
      user("What are some sample nodes?"),
      called("c1", "sampleData", {}),
      gave("c1", "sampleData", {
        message: "Sampled",
        nodes: [
          { id: "cat1", name: "Whiskers", data: { breed: "tabby" } },
          { id: "cat2", name: "Mittens", data: { breed: "persian" } },
        ],
      }),
    ];
    const answer = await textFor(graph, ...history);
    for (const value of ["Whiskers", "cat1", "tabby"]) expect(answer).toContain(value);
    expect(answer).not.toContain("Sampled");
  });

  it("cites sources by number", async () => {
    const found: Entry = {
      type: "result",
      callId: "c1",
      name: "search_files",
      status: "ok",
      content: "1 passage",
      contexts: [
        { id: "a", content: "Tea is hot. The budget is 7 million.", source: { title: "Budget 2026" } },
      ],
    };
    const history = [
      user("Search for budget in all files"),
      called("c1", "search_files", { query: "budget" }),
      found,
    ];
    expect(await textFor(files, ...history)).toBe("The budget is 7 million. [1]");
    const listed =
      "1 passage\n\nSources, to cite by number: [3], [4].\n<sources>\n[3] Menu (https://x.example)\n> Soup: daily.\n\n[4] Budget 2026\n> Tea is hot.\n> The budget is 7 million.\n</sources>";
    const numbered = [...history.slice(0, -1), { ...found, content: listed }];
    expect((await reply(requestOf(numbered, []))).text).toBe("The budget is 7 million. [4]");
  });

  it("without tools it answers from the results, and without results explains why it cannot", async () => {
    expect(await textFor([], ...countedNodes.slice(0, 3))).toBe("Kind: nodes.\nCount: 20.");
    expect(await textFor([], user("How many nodes are there?"))).toMatch(/offline model that follows rules/);
  });

  it("a denied call is reported as denied", async () => {
    const denied: Entry = {
      type: "result",
      callId: "c1",
      name: "write_file",
      status: "denied",
      content: "No.",
    };
    const history = [
      user('write "x" to a.txt'),
      called("c1", "write_file", { path: "a.txt", content: "x" }),
      denied,
    ];
    expect(await textFor(files, ...history)).toBe("That was not done. No.");
  });

  it("answers in the requested format", async () => {
    const request = {
      ...requestOf(countedNodes.slice(0, 3), []),
      output: { type: "object", properties: { count: { type: "integer" }, answer: text } },
    };
    expect(JSON.parse((await reply(request)).text)).toEqual({
      count: 20,
      answer: "Kind: nodes.\nCount: 20.",
    });
  });
});

describe("the contract of a model", () => {
  it("has a descriptive id", () => {
    expect(offline().id).toBe("offline/rules");
    expect(offline({ id: "demo" }).id).toBe("demo");
  });

  it("streams its reasoning, its arguments in deltas, its usage and its finish reason", async () => {
    const chunks = await chunksFrom(requestOf([user("Directions from Terminal 2 to D15")], map));
    const types = chunks.map(({ type }) => type);
    expect(types).toContain("reasoning");
    expect(types.filter((type) => type === "call_delta").length).toBeGreaterThan(1);
    expect(chunks.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
    expect(chunks.at(-2)).toMatchObject({ type: "usage", usage: { estimated: true } });
    const words = await chunksFrom({ ...requestOf([user("hi")], map), thinking: false });
    expect(words.filter(({ type }) => type === "text").length).toBeGreaterThan(5);
    expect(words.map(({ type }) => type)).not.toContain("reasoning");
    expect(words.at(-1)).toEqual({ type: "finish", reason: "end" });
  });

  it("stops when it is aborted", async () => {
    const stream = offline().stream(requestOf([user("hi")], map), {
      signal: AbortSignal.abort(new Error("enough")),
    });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow("enough");
  });

  it("calls a tool when it must, if it can fill one", async () => {
    const must = (sentence: string, tools: readonly ToolSpec[]) =>
      reply({ ...requestOf([user(sentence)], tools), toolChoice: "required" });
    expect((await must("Who was Ada Lovelace?", files)).calls).toHaveLength(1);
    expect((await must("hello", graph.slice(5))).calls).toEqual([]);
  });
});

const sentences = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        ...'find all cats and then show it the second nodes edges near D15 in blue three files read a.txt "x'.split(
          " ",
        ),
      ),
      {
        maxLength: 12,
      },
    )
    .map((words) => words.join(" ")),
);
const values = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const tokens = (words: string) => words.match(/[\p{L}\p{N}]+/gu) ?? [];

describe("for any request", () => {
  it("the same request gives the same chunks, and ends properly", async () => {
    await fc.assert(
      fc.asyncProperty(
        sentences,
        values,
        fc.constantFrom(map, graph, files),
        async (sentence, data, tools) => {
          const name = tools[0]?.name ?? "";
          const history = [user(sentence), called("c1", name, {}), gave("c1", name, data)];
          for (const request of [requestOf([user(sentence)], tools), requestOf(history, tools)]) {
            const chunks = await chunksFrom(request);
            expect(await chunksFrom(structuredClone(request))).toEqual(chunks);
            expect(chunks.at(-1)?.type).toBe("finish");
            expect(chunks.some(({ type }) => type === "text" || type === "call_start")).toBe(true);
          }
        },
      ),
      { examples: [["__proto__", [], map]] },
    );
  });

  it("every number and every name in an answer occurs in its input, or counts a list or its rest", async () => {
    const record = fc.record({
      name: fc.stringMatching(/^[A-Z][a-z]{3,9}$/),
      id: fc.stringMatching(/^[a-z]{3}\d$/),
      metres: fc.integer({ min: 20, max: 9999 }),
      kind: fc.stringMatching(/^[a-z]{4,8}$/),
    });
    const data = fc.record({
      count: fc.integer({ min: 0, max: 500 }),
      found: fc.array(record, { maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(sentences, data, async (sentence, given) => {
        const request = requestOf([user(sentence), called("c1", "look", {}), gave("c1", "look", given)], []);
        const counts = [given.found.length, given.found.length - 8].map(String);
        const known = new Set([...tokens(JSON.stringify(request)), ...counts]);
        const answer = (await reply(request)).text;
        const facts = tokens(answer).filter((token) => /^\p{Lu}\p{Ll}{3,}|\d/u.test(token));
        const own = new Set(["Count", "Found", "Available"]);
        expect(facts.filter((fact) => !known.has(fact) && !own.has(fact))).toEqual([]);
      }),
    );
  });
});

describe("whole runs", () => {
  const start = (tools: readonly Tool[], sentence: string, options: object = {}) =>
    collect(
      run(
        defineAgent({ name: "guide", model: offline(), instructions: standardInstructions("Help."), tools }),
        sentence,
        { store: memory(), session: "s", runId: "r", ...options },
      ),
    );
  const pets = [
    { id: "cat1", name: "Whiskers", type: "cat" },
    { id: "cat2", name: "Mittens", type: "cat" },
    { id: "h1", name: "Ada", type: "human" },
  ];
  const find = defineTool({
    name: "findNodes",
    description: "Find nodes by type.",
    input: {
      type: "object",
      properties: { type: { type: "string", enum: ["cat", "human"] } },
      required: ["type"],
    },
    effects: "none",
    execute: ({ type }) => ({ nodes: pets.filter((pet) => pet.type === type) }),
  });
  const styled: unknown[] = [];
  const style = defineTool({
    name: "styleNodes",
    description: "Style nodes with a color.",
    input: {
      type: "object",
      properties: { nodeIds: { type: "array", items: { type: "string" } }, color: { type: "string" } },
      required: ["nodeIds", "color"],
    },
    execute(input) {
      styled.push(input);
      return { styled: (input as { nodeIds: string[] }).nodeIds.length };
    },
  });

  it("finds and styles items, and reports the result", async () => {
    const { result } = await start([find, style], "Find all cats and make them blue");
    expect(styled).toEqual([{ nodeIds: ["cat1", "cat2"], color: "blue" }]);
    expect(result.status).toBe("done");
    expect(result.text).toContain("Whiskers");
    expect(result.text).toContain("Styled: 2.");
  });

  it("answers with citations of a tool's findings", async () => {
    const search = defineTool({
      name: "search_docs",
      description: "Searches the documentation.",
      input: {
        type: "object",
        properties: { query: { type: "string" } },
        required: ["query"],
        examples: [{ phrase: "{query}", input: {} }],
      },
      effects: "none",
      execute: () => ({
        content: "2 passages",
        contexts: [
          { id: "a", content: "A capstan is a winch.", source: { title: "Winches" } },
          { id: "b", content: "Soup is served daily.", source: { title: "Menu" } },
        ],
      }),
    });
    const { result } = await start([search], "What is a capstan?");
    expect(result.text).toBe("A capstan is a winch. [1]");
  });

  it("explains an error that it cannot correct, and the next question works", async () => {
    const broken = defineTool({
      name: "weather",
      description: "Tells the weather.",
      input: { type: "object", properties: {} },
      execute: () => {
        throw new Error("the station is closed");
      },
    });
    const { result } = await start([broken, find], "How is the weather?", {
      policy: { retry: { maxAttempts: 1 } },
    });
    expect(result.text).toBe("That did not work. The station is closed.");
    const calls = result.history.flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []));
    expect(calls).toHaveLength(1);
  });

  it("a run that reaches a limit ends with text from the results", async () => {
    const { result } = await start([find, style], "Find all cats and make them blue", {
      policy: { maxTurns: 2 },
    });
    const last = result.history.at(-1);
    expect(last?.type === "assistant" && getText(last)).toContain("Whiskers");
  });
});
