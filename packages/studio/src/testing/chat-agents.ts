import { type Agent, agentTool, defineAgent, defineTool, type Entry, type Model, type Part } from "capstan";
import { scriptedModel } from "capstan/testing";

/** A turn of the model, streamed word by word. */
type Turn = {
  readonly thinks?: string;
  readonly says?: string;
  readonly wordMs?: number;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
};

function toPlainWords(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mediaType}]`))
    .join(" ");
}

const wait = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

const answer = `The guide names two ways to begin, and both keep what was said [1].

- **Ask in plain words.** Every step is shown while it happens.
- **Read the timeline.** It has what was sent, and what came back.

\`\`\`ts
const result = await run(agent, "Where is gate D15?");
\`\`\``;

const generateWords = (count: number) =>
  Array.from({ length: count }, (_, index) => `word${index + 1}`).join(" ");

/** Chooses the next turn from the question and the results so far. */
function chooseTurn(
  question: string,
  results: readonly Extract<Entry, { type: "result" }>[],
  steering: string,
): Turn {
  const [first] = results;
  if (question.startsWith("Look")) {
    const calls = [
      { name: "search_guide", input: { query: "ways to begin", limit: 3 } },
      { name: "read_page", input: { page: "timeline" } },
    ];
    return first ? { says: answer } : { thinks: "Two places may have it. I look at both.", calls };
  }
  if (question.startsWith("Save")) {
    const edits = [{ find: "Hello", replace: "Good morning" }];
    if (!first)
      return {
        says: "I will change the greeting.",
        calls: [{ name: "edit_note", input: { path: "notes.md", edits } }],
      };
    return { says: first.status === "ok" ? "The greeting is changed." : "I have left it as it was." };
  }
  if (question.startsWith("Count")) return { says: generateWords(5_000), wordMs: 12 }; // a minute: tests stop it
  if (question.startsWith("Walk")) {
    if (results.length < (steering === "" ? 8 : 3))
      return { calls: [{ name: "read_page", input: { page: `step ${results.length + 1}` } }] };
    return { says: `Walked. On the way I heard: ${steering || "nothing"}.` };
  }
  if (question.startsWith("Book")) {
    if (!first) return { calls: [{ name: "book_table", input: { place: "Harbor" } }] };
    return { says: `Done: ${toPlainWords(first.content)}` };
  }
  if (question.startsWith("Delegate")) {
    if (!first) return { calls: [{ name: "ask_researcher", input: { prompt: "Which ways are there?" } }] };
    return { says: "The researcher has found it." };
  }
  return { says: `You said: ${question}` };
}

const model: Model = {
  id: "test/guide",
  async *stream({ history }, { signal }) {
    const from = history.findLastIndex(
      (entry) => entry.type === "user" && !toPlainWords(entry.content).startsWith("("),
    );
    const question = history[from];
    const since = history.slice(from);
    const results = since.filter((entry) => entry.type === "result");
    const steering = since
      .slice(1)
      .flatMap((entry) => (entry.type === "user" ? [toPlainWords(entry.content)] : []));
    const turn = chooseTurn(
      question?.type === "user" ? toPlainWords(question.content) : "",
      results,
      steering.join(" "),
    );
    const { thinks = "", says = "", calls = [], wordMs = 4 } = turn;
    for (const text of thinks.match(/\S+\s*/g) ?? []) {
      await wait(wordMs, signal);
      yield [{ type: "reasoning", text }];
    }
    for (const text of says.match(/\S+\s*/g) ?? []) {
      await wait(wordMs, signal);
      yield [{ type: "text", text }];
    }
    for (const [index, { name, input }] of calls.entries()) {
      yield [{ type: "call_start", index, name }];
      yield [{ type: "call_delta", index, text: JSON.stringify(input) }];
    }
    yield [
      {
        type: "usage",
        usage: { inputTokens: 900 + history.length * 40, outputTokens: 60, cachedTokens: 600, cost: 0.004 },
      },
      { type: "finish", reason: calls.length > 0 ? "tool_calls" : "stop" },
    ];
  },
};

const tools = [
  defineTool({
    name: "search_guide",
    description: "Searches the guide",
    input: { type: "object" },
    effects: "none",
    reads: ["public"],
    async execute(_, { progress }) {
      progress("2 of 3 pages");
      await wait(120);
      const content =
        "There are two ways to begin. Both keep what was said, so that nothing is lost on the way.";
      const source = { title: "Getting started", url: "https://docs.example.test/begin" };
      return {
        content: "Found one passage.",
        message: "1 passage found",
        contexts: [{ id: "begin", content, source }],
      };
    },
  }),
  defineTool({
    name: "read_page",
    description: "Reads a page",
    input: { type: "object" },
    effects: "none",
    reads: ["public"],
    async execute() {
      await wait(300);
      return { pages: 1, title: "Timeline", rows: [1, 2, 3] };
    },
  }),
  defineTool({
    name: "edit_note",
    description: "Changes a note",
    input: { type: "object" },
    effects: "state",
    reads: ["public"],
    target: ({ path }) => String(path),
    needsApproval: "Changes notes.md.",
    execute: () => ({
      content: "Changed notes.md (lines: 1 added, 1 removed).",
      ui: {
        kind: "diff",
        props: {
          path: "notes.md",
          diff: "--- a/notes.md\n+++ b/notes.md\n@@ -1,2 +1,2 @@\n-Hello\n+Good morning\n world\n",
        },
      },
    }),
  }),
  defineTool({
    name: "book_table",
    description: "Books a table",
    input: { type: "object" },
    effects: "state",
    reads: ["public"],
    execute(_, { answers: [reply] }) {
      if (reply) return reply.approved ? `Booked for ${JSON.stringify(reply.value)}.` : "Nothing was booked.";
      const properties = {
        guests: { type: "integer", title: "Guests" },
        time: { type: "string", title: "Time", enum: ["18:00", "20:00"] },
        outside: { type: "boolean", title: "Outside" },
      };
      return {
        ask: {
          message: "For how many, and when?",
          schema: { type: "object", properties, required: ["guests", "time"] },
        },
      };
    },
  }),
];

const researcher = defineAgent({
  name: "researcher",
  model: scriptedModel(({ history }) =>
    history.some(({ type }) => type === "result")
      ? { text: "Two ways are in the guide." }
      : { calls: [{ name: "search_guide", input: { query: "ways" } }] },
  ),
  tools: tools.slice(0, 1),
});

/** Agents controlled by the first word of the question: Look, Save, Count, Walk, Book, Delegate. Everything else is echoed. */
export function createChatAgents(): readonly Agent[] {
  const ask = agentTool(researcher, { name: "ask_researcher", description: "Asks the researcher" });
  return [
    defineAgent({ name: "guide", model, tools: [...tools, ask], policy: { gate: "off" } }),
    defineAgent({
      name: "broken",
      model: scriptedModel(() => ({ error: "invalid_input" }), { record: false }),
    }),
  ];
}

/** Profiles of the test agents. */
export const agentProfiles = {
  guide: {
    title: "Guide",
    description: "Knows the guide by heart, and changes notes when you agree.",
    suggestions: ["Look up how to begin", "Save a better greeting"],
  },
  broken: { title: "Broken", description: "Fails, whatever it is asked." },
} as const;
