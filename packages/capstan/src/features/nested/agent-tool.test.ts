import { describe, expect, it } from "vitest";
import { stageOf } from "../../client/stage.ts";
import { defineAgent } from "../../kernel/agent.ts";
import { type Event, isFact } from "../../kernel/event.ts";
import { defineTool } from "../../kernel/tool.ts";
import { fold } from "../../runtime/facts.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { agentTool } from "./agent-tool.ts";

const look = defineTool({
  name: "look",
  description: "looks",
  effects: "none",
  reads: ["public"],
  input: { type: "object", properties: {} },
  execute: () => "Berlin",
});

/** Formats one line per event: its run, its turn and its content. */
function formatEvents(events: readonly Event[]): string[] {
  return events.map(
    (event) =>
      `${event.runId} ${event.turn} ${event.type}${event.parentCallId ? ` < ${event.parentRunId} ${event.parentCallId}` : ""}`,
  );
}

describe("the options of an agent as a tool", () => {
  const expert = defineAgent({ name: "expert", model: scriptedModel([]) });

  it.each<[options: object, message: string]>([
    [{ maxTurn: 3 }, 'Unknown field "maxTurn" of the agent tool "expert". Did you mean "maxTurns"?'],
    [{ maxTurns: 0 }, "policy.maxTurns cannot be 0"],
    [{ timeoutMs: "5s" }, 'timeoutMs of the tool "expert" cannot be "5s": use a number from 1.'],
    [{ timeoutMs: null }, 'timeoutMs of the tool "expert" cannot be null: use a number from 1.'],
    [{ description: 5 }, 'The tool "expert" needs a description'],
    [{ name: "" }, "A tool needs a name"],
  ])("are refused when they are %o", (options, message) => {
    expect(() => agentTool(expert, options)).toThrow(
      expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining(message) }),
    );
  });
});

describe("an agent as a tool", () => {
  it("is a nested run with its own turns, streamed live with the caller's events (K9, S3-34, S3-58)", async () => {
    const expert = defineAgent({
      name: "expert",
      instructions: "You know cities.",
      model: scriptedModel([{ calls: [{ name: "look", input: {} }] }, { text: "It is Berlin." }]),
      tools: [look],
    });
    const model = scriptedModel([
      { calls: [{ name: "expert", input: { prompt: "Which city?" } }] },
      { text: "Berlin." },
    ]);
    const agent = defineAgent({ name: "main", model, tools: [agentTool(expert)] });
    const store = memory();
    const handle = run(agent, "Where?", { store, session: "s", runId: "r", clock: fakeClock() });
    const events: Event[] = [];
    for await (const event of handle) events.push(event);
    expect(formatEvents(events)).toMatchInlineSnapshot(`
      [
        "r 0 run_start",
        "r 1 turn_start",
        "r 1 tool_call_delta",
        "r 1 tool_call_delta",
        "r 1 message",
        "r 1 tool_call_start",
        "r~call_1_0 0 run_start < r call_1_0",
        "r~call_1_0 1 turn_start < r call_1_0",
        "r~call_1_0 1 tool_call_delta < r call_1_0",
        "r~call_1_0 1 tool_call_delta < r call_1_0",
        "r~call_1_0 1 message < r call_1_0",
        "r~call_1_0 1 tool_call_start < r call_1_0",
        "r~call_1_0 1 tool_call_result < r call_1_0",
        "r~call_1_0 1 turn_end < r call_1_0",
        "r~call_1_0 2 turn_start < r call_1_0",
        "r~call_1_0 2 content_delta < r call_1_0",
        "r~call_1_0 2 message < r call_1_0",
        "r~call_1_0 2 turn_end < r call_1_0",
        "r~call_1_0 2 done < r call_1_0",
        "r 1 tool_call_result",
        "r 1 turn_end",
        "r 2 turn_start",
        "r 2 content_delta",
        "r 2 message",
        "r 2 turn_end",
        "r 2 done",
      ]
    `);
    const facts = events.filter(isFact);
    expect(facts.map((fact) => fact.seq)).toEqual(facts.map((_, index) => index + 1));
    expect(await store.read("s")).toEqual(facts);
    const result = await handle;
    expect(result).toMatchObject({
      status: "done",
      text: "Berlin.",
      turns: 2,
      usage: { inputTokens: 40, outputTokens: 20 },
    });
    expect(
      facts.find((fact) => fact.type === "tool_call_result" && fact.runId === "r"),
    ).toMatchInlineSnapshot(`
      {
        "agent": "main",
        "at": 1767225600000,
        "attempts": 1,
        "data": {
          "runId": "r~call_1_0",
          "status": "done",
          "turns": 2,
        },
        "id": "call_1_0",
        "is_error": false,
        "ms": 0,
        "name": "expert",
        "result": "It is Berlin.",
        "runId": "r",
        "seq": 15,
        "sessionId": "s",
        "status": "ok",
        "turn": 1,
        "type": "tool_call_result",
      }
    `);
    expect(facts.filter((fact) => fact.type === "turn_start").map((fact) => fact.maxTurns)).toEqual([
      10, 5, 5, 10,
    ]);
    expect((await store.listRuns("s")).map((info) => info.runId)).toEqual(["r"]);
  });

  it("sees only its prompt and has its own instructions and tools (S3-34)", async () => {
    const expertModel = scriptedModel([{ text: "Berlin." }]);
    const expert = defineAgent({
      name: "expert",
      instructions: "You know cities.",
      model: expertModel,
      tools: [look],
    });
    const tool = agentTool(expert, { name: "ask_expert", description: "Knows cities." });
    const model = scriptedModel([
      { calls: [{ name: "ask_expert", input: { prompt: "Which?" } }] },
      { text: "Ok." },
    ]);
    const agent = defineAgent({ name: "main", instructions: "Main.", model, tools: [tool] });
    await run(agent, "A secret between us.", { store: memory() });
    expect(expertModel.requests).toHaveLength(1);
    const [request] = expertModel.requests;
    expect(request?.history).toEqual([{ type: "user", content: "Which?" }]);
    expect(request?.instructions).toContain("You know cities.");
    expect(request?.tools.map(({ name }) => name)).toEqual(["look"]);
    expect(model.requests[0]?.tools).toMatchObject([{ name: "ask_expert", description: "Knows cities." }]);
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      type: "result",
      name: "ask_expert",
      content: "Berlin.",
    });
  });

  it("runs concurrently with separate state and returns results in call order", async () => {
    const gates = new Map(["a", "b", "c"].map((name) => [name, Promise.withResolvers<void>()]));
    const order: string[] = [];
    const wait = defineTool({
      name: "wait",
      description: "waits",
      effects: "none",
      input: { type: "object", properties: { for: { type: "string" } }, required: ["for"] },
      async execute(input) {
        order.push(`begin ${input.for}`);
        if (order.length === 3) gates.get("c")?.resolve();
        await gates.get(input.for)?.promise;
        order.push(`end ${input.for}`);
        gates.get(input.for === "c" ? "b" : "a")?.resolve();
        return input.for;
      },
    });
    const model = scriptedModel(({ history }) => {
      const [prompt] = history;
      const said = prompt?.type === "user" ? String(prompt.content) : "";
      return history.length > 1
        ? { text: `Waited for ${said}.` }
        : { calls: [{ id: "same", name: "wait", input: { for: said } }] };
    });
    const waiter = defineAgent({ name: "waiter", model, tools: [wait] });
    const calls = ["a", "b", "c"].map((prompt) => ({ name: "waiter", input: { prompt } }));
    const main = scriptedModel([{ calls }, { text: "All." }]);
    const store = memory();
    const agent = defineAgent({ name: "main", model: main, tools: [agentTool(waiter)] });
    const result = await run(agent, "Go.", { store, session: "s", runId: "r" });
    expect(order.slice(0, 3).sort()).toEqual(["begin a", "begin b", "begin c"]);
    expect(order[3]).toBe("end c");
    expect(result.toolCalls.map((call) => call.result)).toEqual([
      "Waited for a.",
      "Waited for b.",
      "Waited for c.",
    ]);
    const facts = await store.read("s");
    const inner = facts.flatMap((fact) =>
      fact.type === "tool_call_start" && fact.name === "wait" ? fact.id : [],
    );
    expect(inner.toSorted()).toEqual(["call_1_0.same", "call_1_1.same", "call_1_2.same"]);
    expect(fold("s", facts).run?.nested.size).toBe(0);
    expect(result.usage.inputTokens).toBe(80);
  });

  it("streams three levels in one stream, each event once and with its run", async () => {
    const deep = defineAgent({ name: "deep", model: scriptedModel([{ text: "Deep." }]) });
    const between = defineAgent({
      name: "between",
      model: scriptedModel([{ calls: [{ name: "deep", input: { prompt: "?" } }] }, { text: "Between." }]),
      tools: [agentTool(deep)],
    });
    const model = scriptedModel([{ calls: [{ name: "between", input: { prompt: "?" } }] }, { text: "Top." }]);
    const handle = run(defineAgent({ name: "top", model, tools: [agentTool(between)] }), "Go.", {
      store: memory(),
      runId: "r",
    });
    const events: Event[] = [];
    for await (const event of handle) events.push(event);
    const origins = new Set(events.map((e) => [e.agent, e.runId, e.parentRunId, e.parentCallId].join(" ")));
    expect([...origins]).toEqual([
      "top r  ",
      "between r~call_1_0 r call_1_0",
      "deep r~call_1_0.call_1_0 r~call_1_0 call_1_0.call_1_0",
    ]);
    const said = events.flatMap((event) =>
      event.type === "content_delta" ? `${event.agent}: ${event.delta}` : [],
    );
    expect(said).toEqual(["deep: Deep.", "between: Between.", "top: Top."]);
    expect(stageOf(events.slice(0, events.findIndex((event) => event.type === "done") + 1))).toBe(
      "executing",
    );
    expect(stageOf(events)).toBe("complete");
  });

  it("keeps only the answer of a nested run with a thousand events of a kilobyte (flat memory)", async () => {
    const kilobyte = "x".repeat(1024);
    const turns = 250; // a message, a call, its result and a turn's two ends each
    const noisy = defineTool({
      name: "noisy",
      description: "says much",
      effects: "none",
      input: { type: "object", properties: { n: { type: "integer" } } },
      execute: () => kilobyte,
    });
    const model = scriptedModel((_, index) =>
      index >= turns
        ? { text: "Short." }
        : { text: kilobyte, calls: [{ name: "noisy", input: { n: index } }] },
    );
    const chatty = defineAgent({ name: "chatty", model, tools: [noisy], policy: { maxTurns: "unlimited" } });
    const main = scriptedModel([
      { calls: [{ name: "chatty", input: { prompt: "Talk." } }] },
      { text: "Ok." },
    ]);
    const store = memory();
    const agent = defineAgent({ name: "main", model: main, tools: [agentTool(chatty)] });
    const result = await run(agent, "Go.", { store, session: "s" });
    const facts = await store.read("s");
    expect(facts.length).toBeGreaterThan(1000);
    const own = facts.filter((fact) => fact.parentRunId === undefined);
    expect(JSON.stringify(own).length).toBeLessThan(10_000);
    // The log stores each text once: no fact repeats the text of an earlier one.
    expect(JSON.stringify(facts).length).toBeLessThan(turns * 2 * 1024 * 2);
    const state = fold("s", facts);
    expect(JSON.stringify([state.history, state.run?.toolCalls, result.history]).length).toBeLessThan(10_000);
    expect(state.run?.nested.size).toBe(0);
  });

  it("is rejected for a value that is not an agent, or an invalid turn limit", () => {
    const agent = defineAgent({ name: "a", model: scriptedModel([]) });
    expect(() => agentTool({} as never)).toThrow(expect.objectContaining({ code: "invalid_definition" }));
    expect(() => agentTool(agent, { maxTurns: 0 })).toThrow(
      expect.objectContaining({ code: "invalid_definition" }),
    );
  });

  it("uses the tool's turn limit, then the agent's, then five", async () => {
    const turnsOf = async (maxTurns: number | undefined, own?: number) => {
      const sub = defineAgent({
        name: "sub",
        model: scriptedModel([{ text: "." }]),
        policy: own === undefined ? {} : { maxTurns: own },
      });
      const model = scriptedModel([{ calls: [{ name: "sub", input: { prompt: "?" } }] }, { text: "." }]);
      const tool = agentTool(sub, maxTurns === undefined ? {} : { maxTurns });
      const store = memory();
      const { sessionId } = await run(defineAgent({ name: "m", model, tools: [tool] }), "Go.", { store });
      const start = (await store.read(sessionId)).find(
        (fact) => fact.type === "turn_start" && fact.agent === "sub",
      );
      return start?.type === "turn_start" ? start.maxTurns : undefined;
    };
    expect([await turnsOf(2, 7), await turnsOf(undefined, 7), await turnsOf(undefined)]).toEqual([2, 7, 5]);
  });
});
