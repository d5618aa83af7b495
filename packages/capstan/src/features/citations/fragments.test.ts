import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import type { Event } from "../../kernel/event.ts";
import { type Entry, toPlainText } from "../../kernel/history.ts";
import type { ModelRequest } from "../../kernel/model.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import { compatible } from "../../models/compatible.ts";
import { type RunOptions, run } from "../../runtime/run.ts";
import { session } from "../../sessions/index.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";
import { openAiChatEncoder } from "../../testing/wire-encoders.ts";
import { parseCitedNumbers } from "./fragments.ts";

/** Returns the requested fragments: `a b` are two, `a=x` is one with different content. */
const find = defineTool({
  name: "find",
  description: "Finds",
  input: { type: "object", properties: { what: { type: "string" }, slow: { type: "boolean" } } },
  effects: "none",
  reads: ["public"],
  async execute({ what, slow }) {
    if (slow) await new Promise((resolve) => setTimeout(resolve, 20));
    const contexts = String(what)
      .split(" ")
      .map((word) => {
        const [id = "", content = `About ${id}.`] = word.split("=");
        return { id, content, source: { title: id.toUpperCase() } };
      });
    return { content: "Found.", contexts };
  },
});

const requestFragments = (...whats: string[]): ScriptedStep => ({
  calls: whats.map((what) => ({ name: "find", input: { what } })),
});

/** Returns what the model reads in results and summaries. */
const readSources = ({ history }: Pick<ModelRequest, "history"> = { history: [] }): string =>
  history
    .flatMap((entry) => {
      if (entry.type === "summary") return [entry.text];
      return entry.type === "result" ? [toPlainText(entry.content)] : [];
    })
    .join("\n");

/** Runs the steps; returns the result, the facts, and the sources listed in each request. */
async function ask(
  steps: readonly ScriptedStep[],
  { policy = {}, ...more }: RunOptions & { readonly policy?: PolicyOverrides } = {},
  changes: Partial<AgentDefinition> = {},
) {
  const model = scriptedModel(steps);
  const agent = defineAgent({ name: "a", model, tools: [find], policy, ...changes });
  const seen = await collect(run(agent, "Go", { store: memory(), ...more }));
  const listed = model.requests.map((request) => {
    const found = [...readSources(request).matchAll(/^\[(\d+)\] (\w+)/gm)];
    return [...new Set(found.map(([, n, title]) => `${n} ${title}`))].join(", ");
  });
  const warnings = seen.facts.flatMap((fact) => (fact.type === "warning" ? [fact.code] : []));
  return { ...seen, model, listed, warnings, cited: seen.result.citations.map(({ n, id }) => `${n} ${id}`) };
}

describe("parseCitedNumbers", () => {
  it("reads numbers, lists and ranges, each number once", () => {
    expect(parseCitedNumbers("1")).toEqual([1]);
    expect(parseCitedNumbers("3, 1,2;1")).toEqual([3, 1, 2]);
    expect(parseCitedNumbers("1, 3 - 5")).toEqual([1, 3, 4, 5]);
    for (const other of ["", "a", "1 2", "01", "5-3", "1-21", "1234567", "1,,2"])
      expect(parseCitedNumbers(other)).toBeUndefined();
  });
});

describe("source numbers", () => {
  it("are assigned in call order, whichever tool was faster (S3-56)", async () => {
    const slow = {
      calls: [
        { name: "find", input: { what: "a", slow: true } },
        { name: "find", input: { what: "b" } },
      ],
    };
    const { listed } = await ask([slow, { text: "Done [1][2]." }]);
    expect(listed).toEqual(["", "1 A, 2 B"]);
  });

  it("are kept in later runs of the session, and continue from there (S3-56)", async () => {
    const [store, id] = [memory(), "s"];
    await ask([requestFragments("a b"), { text: "One [1]." }], { store, session: id });
    const { listed, cited } = await ask([requestFragments("b c"), { text: "More [3] and before [1]." }], {
      store,
      session: id,
    });
    expect(listed).toEqual(["1 A, 2 B", "1 A, 2 B, 3 C"]);
    expect(cited).toEqual(["3 c", "1 a"]);
  });

  it("are kept when a run has its own memory: it sees only its own sources, and no number is reused (S3-56)", async () => {
    const options = { store: memory(), session: "s" };
    await ask([requestFragments("a b"), { text: "One [1]." }], options);
    const alone = await ask([requestFragments("c b=new"), { text: "Mine [3][2], not [1]." }], {
      ...options,
      policy: { memory: "run" },
    });
    expect(alone.listed).toEqual(["", "3 C, 2 B"]);
    expect(readSources(alone.model.requests[1])).toContain("[2] B\n> new");
    expect(alone.result.text).toBe("Mine [3][2], not.");
    const after = await ask([requestFragments("d"), { text: "All [1][2][3][4]." }], options);
    expect(after.listed).toEqual(["1 A, 2 B, 3 C", "1 A, 2 B, 3 C, 4 D"]);
    expect(readSources(after.model.requests[0])).toContain("[2] B\n> About b.");
    expect(after.warnings).toEqual([]);
  });

  it("are kept in a fork and then diverge (S3-56)", async () => {
    const store = memory();
    const first = await ask([requestFragments("a b"), { text: "One [1]." }], { store, session: "s" });
    const fork = await session(store, "s").fork(first.facts.at(-1)?.seq ?? 0);
    const there = await ask([requestFragments("c"), { text: "C [3]." }], { store, session: fork.id });
    const here = await ask([requestFragments("d"), { text: "D [3]." }], { store, session: "s" });
    expect([there.cited, here.cited]).toEqual([["3 c"], ["3 d"]]);
  });

  it("are kept when the history is summarized (S3-56)", async () => {
    const text = "Long. ".repeat(2000);
    const model = scriptedModel([{ text: "Summary of A [1]." }]);
    const usage = null;
    const steps = [
      { text, usage, ...requestFragments("a b") },
      ...["c", "d", "e"].map((what) => ({ usage, ...requestFragments(what) })),
    ];
    const { facts, cited, listed } = await ask(
      [...steps, { text: "So [1][5].", usage }],
      { policy: { contextBudget: 2000 } },
      { models: { summary: model } },
    );
    expect(facts.some((fact) => fact.type === "compacted" && fact.text)).toBe(true);
    expect(cited).toEqual(["1 a", "5 e"]);
    expect(listed.at(-1)).toBe("1 A, 2 B, 3 C, 4 D, 5 E");
  });

  it("are assigned to results that a client sends, in order (S3-56)", async () => {
    const first = await ask([requestFragments("a b"), { text: "One [2]." }], {
      policy: { memory: "client" },
    });
    const model = scriptedModel([{ text: "As said [2]." }]);
    const agent = defineAgent({ name: "a", model, tools: [find] });
    const input: Entry[] = [...first.result.history, { type: "user", content: "Again?" }];
    const result = await run(agent, input, { store: memory() });
    expect(result.citations.map(({ n, id }) => `${n} ${id}`)).toEqual(["2 b"]);
  });

  it("refer to the first content of an id: different content is ignored with a warning (S3-56)", async () => {
    const { model, warnings, facts } = await ask([
      requestFragments("a"),
      requestFragments("a=new b b=new"),
      { text: "A [1]." },
    ]);
    expect(readSources(model.requests.at(-1))).toContain("[1] A\n> About a.\n\n[2] B\n> About b.");
    expect(readSources(model.requests.at(-1))).not.toContain("new");
    expect(warnings).toEqual(["fragment_changed"]);
    expect(facts.find((fact) => fact.type === "warning")).toMatchObject({
      message:
        'A tool returned "a", "b" again with different content. The first content is kept; give changed passages a new id.',
    });
  });

  it("are in the result, and the history of the run keeps what the tool returned (S3-08)", async () => {
    const { model, result } = await ask([requestFragments("a"), { text: "A [1]." }]);
    expect(model.requests[1]?.history[2]).toMatchObject({
      content: expect.stringMatching(/^Found\.\n\nSources, [\s\S]*\[1\] A\n> About a\.\n<\/sources>$/),
    });
    expect(result.history[2]).toMatchObject({ content: "Found.", contexts: [{ id: "a" }] });
  });

  it.each([
    ["auto", true, true],
    ["auto", false, false],
    ["on", false, true],
    ["off", true, false],
  ] as const)("%s, citable %s: a fixed text says how to cite, from the first turn on: %s", async (citations, citable, isTold) => {
    const tools = [{ ...find, citable }];
    const changes = { instructions: "Be kind.", tools };
    const { model } = await ask([requestFragments("a"), { text: "A." }], { policy: { citations } }, changes);
    const [first, second] = model.requests.map(({ instructions }) => instructions);
    expect(first).toMatch(isTold ? /^Be kind\.\n\nCitations: / : /^Be kind\.$/);
    expect(second).toBe(first);
  });

  it("are not listed without citations, but the passages are", async () => {
    const { model } = await ask([requestFragments("a"), { text: "A." }], { policy: { citations: "off" } });
    expect(readSources(model.requests[1])).toContain("<sources>\n- A\n> About a.\n</sources>");
  });

  it("stay with their titles when a result is shortened, and the whole list can be read again (S3-56)", async () => {
    const long = `long=${"words-".repeat(3000)}`;
    const { model, facts } = await ask(
      [
        { usage: null, ...requestFragments(long) },
        { calls: [{ name: "read_result", input: { handle: "blob_1", from: 0, length: 200 } }], usage: null },
        { text: "So [1].", usage: null },
      ],
      { policy: { contextBudget: 1500 } },
    );
    expect(facts.find((fact) => fact.type === "compacted")).toMatchObject({
      results: [{ handle: "blob_1" }],
    });
    const [, second, third] = model.requests.map(readSources);
    expect(second).toMatch(/^Found\.\n\nSources[\s\S]*read_result[\s\S]*\[1\] LONG\n<\/sources>$/);
    expect(second?.length).toBeLessThan(6000);
    expect(third).toContain("> words-words-");
  });
});

describe("streamed and stored text", () => {
  it("is the same for users, the history and the next request: an invented number cannot gain a meaning later (S3-55)", async () => {
    const options = { store: memory(), session: "s" };
    const first = await ask([requestFragments("a"), { text: "A [1], B [2]." }], options);
    const second = await ask([requestFragments("b"), { text: "B [2]." }], options);
    expect(first.result.text).toBe("A [1], B.");
    const said = { type: "assistant", parts: [{ type: "text", text: "A [1], B." }] };
    expect(first.result.history.at(-1)).toEqual(said);
    expect(second.model.requests[0]?.history).toContainEqual(said);
    expect(second.cited).toEqual(["2 b"]);
  });

  it("names every number of a message in one warning, and each source once", async () => {
    const { facts, events } = await ask([requestFragments("a b"), { text: "[1][7] and [1, 8-9] and [2]." }]);
    const warnings = facts.filter((fact) => fact.type === "warning");
    expect(warnings.map(({ message }) => message)).toEqual([
      "The model cited [7], [8], [9], but no such source exists; removed from the text.",
    ]);
    expect(events.flatMap((event) => (event.type === "citation" ? [event.n] : []))).toEqual([1, 2]);
  });

  it("includes text that comes with calls; reasoning and arguments are not changed", async () => {
    const step: ScriptedStep = {
      reasoning: "Perhaps [9].",
      text: "I look on [9",
      calls: [{ name: "find", input: { what: "b", note: "[9]" } }],
    };
    const { result } = await ask([
      requestFragments("a"),
      { ...step, text: "I look on [9]" },
      step,
      { text: "End." },
    ]);
    const parts = result.history.flatMap((entry) => (entry.type === "assistant" ? [...entry.parts] : []));
    expect(parts.flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual([
      "I look on",
      "I look on [9",
      "End.",
    ]);
    expect(parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : []))).toEqual([
      "Perhaps [9].",
      "Perhaps [9].",
    ]);
  });

  it("has nothing of an answer that was restarted", async () => {
    const { cited, warnings } = await ask([
      requestFragments("a b"),
      { text: "Half [1][9] ", error: "stream_truncated" },
      { text: "Whole [2]." },
    ]);
    expect([cited, warnings]).toEqual([["2 b"], []]);
  });

  it("keeps the text of a cancelled run, with its citations and buffered characters", async () => {
    const model = scriptedModel([requestFragments("a"), { text: "A [1], and [", hang: true }]);
    const running = run(defineAgent({ name: "a", model, tools: [find] }), "Go", { store: memory() });
    const messages: Event[] = [];
    for await (const event of running) {
      if (event.type === "message") messages.push(event);
      if (event.type === "citation") void running.cancel();
    }
    expect(messages.at(-1)).toMatchObject({
      stopReason: "aborted",
      entry: { parts: [{ text: "A [1], and [" }] },
      citations: [{ n: 1, id: "a" }],
    });
  });
});

describe("citations", () => {
  it("are parsed once there are sources, always, or never, as the policy says", async () => {
    const text = "Yes [7].";
    const texts = async (steps: ScriptedStep[]) => {
      const results = (["auto", "on", "off"] as const).map((citations) =>
        ask(steps, { policy: { citations } }),
      );
      return (await Promise.all(results)).map(({ result }) => result.text);
    };
    expect(await texts([{ text }])).toEqual(["Yes [7].", "Yes.", "Yes [7]."]);
    expect(await texts([requestFragments("a"), { text }])).toEqual(["Yes.", "Yes.", "Yes [7]."]);
  });

  it("are not parsed in structured output: a list of numbers there is data", async () => {
    const output = { type: "object", properties: { ids: { type: "array" } } };
    const { result, warnings } = await ask(
      [requestFragments("a"), { text: '{"ids":[1,2]}' }],
      {},
      { output },
    );
    expect(result.output).toEqual({ ids: [1, 2] });
    expect([result.citations, warnings]).toEqual([[], []]);
  });

  it("of an answer at a limit are those of the model's last text in it", async () => {
    const steps = [
      requestFragments("a"),
      { text: "A so far [1].", ...requestFragments("b") },
      requestFragments("c"),
    ];
    const policy = { maxTurns: 3, finalTurn: "keep-tools" } as const;
    const withWords = await ask(steps, { policy });
    expect(withWords.result.text).toContain("My last note was: A so far [1].");
    expect([withWords.result.status, withWords.cited]).toEqual(["limit", ["1 a"]]);
    const without = await ask(steps, { policy: { ...policy, onLimit: ["fail"] } });
    expect([without.result.status, without.cited]).toEqual(["failed", []]);
  });

  it("are the same wherever the provider's stream is split (S3-06)", async () => {
    const text = "Først [1], så [2, 3] og [1-2]; ikke [9] eller `a[7]` 😀[3].";
    const { body, end } = openAiChatEncoder.encode({ text });
    const bytes = new TextEncoder().encode(body + end);
    const history = (await ask([requestFragments("a b c"), { text: "Found." }])).result.history;
    const answerOf = async (cuts: readonly number[]) => {
      const ends = [...cuts, bytes.length];
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const [at, cut] of ends.entries()) controller.enqueue(bytes.slice(ends[at - 1] ?? 0, cut));
          controller.close();
        },
      });
      const fetch = async () => new Response(stream, { headers: { "content-type": "text/event-stream" } });
      const model = compatible({ baseURL: "http://127.0.0.1:1", model: "m", fetch });
      const input: Entry[] = [...history, { type: "user", content: "Go on." }];
      const { events, result } = await collect(
        run(defineAgent({ name: "a", model }), input, { store: memory() }),
      );
      const told = events.map((event) => (event.type === "content_delta" ? event.delta : "")).join("");
      const live = events.flatMap((event) => (event.type === "citation" ? [event.n] : []));
      return { text: result.text, told, live, citations: result.citations.map(({ n }) => n) };
    };
    const whole = await answerOf([]);
    expect(whole).toEqual({
      text: "Først [1], så [2, 3] og [1-2]; ikke eller `a[7]` 😀[3].",
      told: "Først [1], så [2, 3] og [1-2]; ikke eller `a[7]` 😀[3].",
      live: [1, 2, 3],
      citations: [1, 2, 3],
    });
    const cuts = Array.from(bytes.keys());
    expect(await answerOf(cuts)).toEqual(whole);
    for (const cut of cuts) expect(await answerOf([cut])).toEqual(whole);
  });
});
