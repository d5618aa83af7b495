import { describe, expect, it } from "vitest";
import { sleep } from "../base/clock.ts";
import { defineAgent, type InstructionsInput } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { type Entry, getCalls, getText, type ResultEntry, toPlainText } from "../kernel/history.ts";
import { defineTool } from "../kernel/tool.ts";
import { fromGenerate, type Generate } from "../models/from-generate.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { fold } from "./facts.ts";
import { resume, run } from "./run.ts";

const look = defineTool({
  name: "look",
  description: "Looks up a number",
  input: { type: "object", properties: { n: { type: "number" } } },
  effects: "none",
  execute: ({ n }) => `the value of ${n}`,
});

const createLookStep = (n: number): ScriptedStep => ({
  calls: [{ id: `c${n}`, name: "look", input: { n } }],
});

/** A model that keeps looking up numbers and never answers. */
const createEndlessModel = () => scriptedModel((_request, index) => createLookStep(index));

const listTypes = (facts: readonly Fact[]) => facts.map((fact) => fact.type);

/** S0's four kinds of message. */
function toSeedMessages(history: readonly Entry[]): { role: string; type: string; content: unknown }[] {
  const messages: { role: string; type: string; content: unknown[] | string }[] = [];
  for (const entry of history) {
    if (entry.type === "user")
      messages.push({ role: "user", type: "user_input", content: toPlainText(entry.content) });
    else if (entry.type === "assistant") {
      const calls = getCalls(entry).map(({ name, input }) => ({ name, args: input }));
      messages.push(
        calls.length > 0
          ? { role: "assistant", type: "tool_calls", content: calls }
          : { role: "assistant", type: "assistant_response", content: getText(entry) },
      );
    } else if (entry.type === "result") {
      const last = messages.at(-1);
      const result = { name: entry.name, result: toPlainText(entry.content) };
      if (last?.type === "tool_results" && Array.isArray(last.content)) last.content.push(result);
      else messages.push({ role: "user", type: "tool_results", content: [result] });
    }
  }
  return messages;
}

/** S2's turns of a conversation. */
function toConversationTurns(history: readonly Entry[]): unknown[] {
  return history.map((entry) => {
    if (entry.type === "user") return { role: "user", content: toPlainText(entry.content) };
    if (entry.type === "result")
      return { role: "tool", toolCallId: entry.callId, content: toPlainText(entry.content) };
    if (entry.type === "summary") return { role: "assistant", content: entry.text };
    const toolCalls = getCalls(entry).map(({ id, name }) => ({ id, name }));
    return { role: "assistant", content: getText(entry) || null, ...(toolCalls.length > 0 && { toolCalls }) };
  });
}

describe("the loop", () => {
  it("thinks, acts, observes, reacts and repeats until there is a final answer (S0-01)", async () => {
    const model = scriptedModel([createLookStep(1), createLookStep(2), { text: "Both found." }]);
    const { facts, result } = await collect(
      run(defineAgent({ name: "a", model, tools: [look] }), "Find 1, 2"),
    );
    expect(listTypes(facts)).toEqual([
      "run_start",
      ...["turn_start", "message", "tool_call_start", "tool_call_result", "turn_end"],
      ...["turn_start", "message", "tool_call_start", "tool_call_result", "turn_end"],
      ...["turn_start", "message", "turn_end"],
      "done",
    ]);
    expect(result).toMatchObject({ status: "done", text: "Both found.", turns: 3 });
  });

  it("every model call carries the whole history, the tools and the instructions (S0-02)", async () => {
    const model = scriptedModel([createLookStep(1), createLookStep(2), { text: "Done." }]);
    const agent = defineAgent({ name: "a", model, tools: [look], instructions: "Be brief." });
    const { history } = await run(agent, "Find 1, 2");
    expect(model.requests.map((request) => request.history)).toEqual([
      history.slice(0, 1),
      history.slice(0, 3),
      history.slice(0, 5),
    ]);
    for (const request of model.requests) {
      expect(request.instructions).toBe("Be brief.");
      expect(request.tools).toEqual([
        { name: "look", description: "Looks up a number", input: look.schema.json },
      ]);
    }
  });

  it("text ends the run, calls continue it, and both together continue it with the text kept as a note (S0-03)", async () => {
    const model = scriptedModel([
      createLookStep(1),
      { ...createLookStep(2), text: "One more." },
      { text: "Done." },
    ]);
    const result = await run(defineAgent({ name: "a", model, tools: [look] }), "Find 1, 2");
    expect(model.requests).toHaveLength(3);
    expect(result.text).toBe("Done.");
    expect(toConversationTurns(result.history)).toContainEqual({
      role: "assistant",
      content: "One more.",
      toolCalls: [{ id: "c2", name: "look" }],
    });
  });

  it("an empty answer is retried and then a named failure with a text (S0-03)", async () => {
    const model = scriptedModel(() => ({}));
    const result = await run(defineAgent({ name: "a", model }), "Hi", {
      clock: fakeClock({ skipUpToMs: 30_000 }),
    });
    expect(model.requests).toHaveLength(3);
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "empty_response" },
      text: "The model could not answer: The model gave neither text nor a tool call.",
    });
  });

  it("the state is always the fold of the recorded facts (S0-04)", async () => {
    const model = scriptedModel([createLookStep(1), { text: "Done." }]);
    const { facts, result } = await collect(run(defineAgent({ name: "a", model, tools: [look] }), "Find 1"));
    expect(fold(result.sessionId, facts).history).toEqual(result.history);
    const lengths = facts.map((_, index) => fold(result.sessionId, facts.slice(0, index + 1)).history.length);
    expect(lengths).toEqual([1, 1, 1, 1, 3, 3, 3, 4, 4, 4]);
    expect(result.history.map((entry) => entry.type)).toEqual(["user", "assistant", "result", "assistant"]);
  });

  it("a run has at most ten turns by default (S0-05)", async () => {
    const model = createEndlessModel();
    const result = await run(defineAgent({ name: "a", model, tools: [look] }), "Find all");
    expect(model.requests).toHaveLength(10);
    expect(result).toMatchObject({ status: "limit", turns: 10, error: { code: "max_turns" } });
  });

  it("the app runs the tool with the model's arguments; the model only sees its description (S0-06)", async () => {
    const inputs: unknown[] = [];
    const tool = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object", properties: { n: { type: "number" } } },
      execute(input) {
        inputs.push(input);
        return 42;
      },
    });
    const model = scriptedModel([createLookStep(7), { text: "42" }]);
    await run(defineAgent({ name: "a", model, tools: [tool] }), "Find 7");
    expect(inputs).toEqual([{ n: 7 }]);
    expect(Object.keys(model.requests[0]?.tools[0] ?? {})).toEqual(["name", "description", "input"]);
  });

  it("a failing tool's error goes back to the model, which recovers (S0-07, D-03)", async () => {
    const broken = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      execute() {
        throw new Error("the shelf is empty");
      },
    });
    const model = scriptedModel([createLookStep(1), { text: "I could not look it up." }]);
    const result = await run(defineAgent({ name: "a", model, tools: [broken] }), "Find 1");
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      type: "result",
      status: "error",
      content: "Tool execution failed: the shelf is empty",
      error: { code: "tool_failed", message: "the shelf is empty" },
    });
    expect(result).toMatchObject({ status: "done", text: "I could not look it up.", grounded: false });
  });

  it("at the limit the run stops and asks the user to clarify, when the policy says so (S0-08)", async () => {
    const agent = defineAgent({
      name: "a",
      model: createEndlessModel(),
      tools: [look],
      policy: { maxTurns: 3, onLimit: ["clarify"] },
    });
    const result = await run(agent, "Find all");
    expect(result.status).toBe("limit");
    expect(result.text).toBe(
      "I'm sorry, I could not find a good answer yet. The limit of 3 turns was reached. I tried look, but that did not settle it. " +
        "Could you tell me a little more about what you are looking for?",
    );
  });

  it("the user's message is in the history before the first turn (S0-09)", async () => {
    const model = scriptedModel([{ text: "Hello." }]);
    const { facts } = await collect(run(defineAgent({ name: "a", model }), "Hi"));
    expect(facts[0]).toMatchObject({ type: "run_start", input: [{ type: "user", content: "Hi" }] });
    expect(facts[1]).toMatchObject({ type: "turn_start", messageCount: 1 });
    expect(toSeedMessages(model.requests[0]?.history ?? [])).toEqual([
      { role: "user", type: "user_input", content: "Hi" },
    ]);
  });

  it("turns count from one and restart with every user message (S0-10, D-01)", async () => {
    const model = scriptedModel([createLookStep(1), { text: "1" }, createLookStep(2), { text: "2" }]);
    const agent = defineAgent({ name: "a", model, tools: [look], policy: { maxTurns: 3 } });
    const options = { session: "s", store: memory() };
    const first = await collect(run(agent, "Find 1", options));
    const second = await collect(run(agent, "Find 2", options));
    for (const { facts } of [first, second])
      expect(facts.flatMap((fact) => (fact.type === "turn_start" ? [fact.turn] : []))).toEqual([1, 2]);
    expect(second.result).toMatchObject({ status: "done", text: "2", turns: 2 });
  });

  it("`generate(messages, tools, instructions)` is called once per turn (S0-11, S0-41, S2-11)", async () => {
    const asked: { messages: number; tools: string[]; instructions: string; signal: boolean }[] = [];
    const generate: Generate = (messages, tools, instructions, { signal }) => {
      asked.push({
        messages: messages.length,
        tools: tools.map((tool) => tool.name),
        instructions,
        signal: signal instanceof AbortSignal,
      });
      return asked.length === 1
        ? { text: null, toolCalls: [{ name: "look", args: { n: 1 } }] }
        : { text: "It is 1.", toolCalls: null };
    };
    const agent = defineAgent({
      name: "a",
      model: fromGenerate({ generate }),
      tools: [look],
      instructions: "Look first.",
    });
    const result = await run(agent, "Find 1");
    expect(result.text).toBe("It is 1.");
    expect(result.toolCalls).toMatchObject([{ name: "look", input: { n: 1 }, status: "ok" }]);
    const same = { tools: ["look"], instructions: "Look first.", signal: true };
    expect(asked).toEqual([
      { messages: 1, ...same },
      { messages: 3, ...same },
    ]);
  });

  it("all calls of one response run at the same time (S0-12)", async () => {
    let running = 0;
    let most = 0;
    const slow = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      async execute() {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
        return "ok";
      },
    });
    const model = scriptedModel([
      { calls: [1, 2, 3].map((n) => ({ name: "look", input: { n } })) },
      { text: "Done." },
    ]);
    await run(defineAgent({ name: "a", model, tools: [slow] }), "Find 1, 2, 3");
    expect(most).toBe(3);
  });

  it("a tool pass adds the calls and then their results, in call order whatever order they end in (S0-13)", async () => {
    const released = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const racing = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      async execute({ n }) {
        await released[n]?.promise;
        released[n - 1]?.resolve();
        return `value ${n}`;
      },
    });
    released[2]?.resolve();
    const model = scriptedModel([
      { calls: [0, 1, 2].map((n) => ({ name: "look", input: { n } })) },
      { text: "Done." },
    ]);
    const { facts, result } = await collect(run(defineAgent({ name: "a", model, tools: [racing] }), "Find"));
    expect(
      facts.flatMap((fact) => (fact.type === "tool_call_result" ? [toPlainText(fact.result)] : [])),
    ).toEqual(["value 2", "value 1", "value 0"]);
    expect(toSeedMessages(result.history).slice(1, 3)).toEqual([
      {
        role: "assistant",
        type: "tool_calls",
        content: [0, 1, 2].map((n) => ({ name: "look", args: { n } })),
      },
      {
        role: "user",
        type: "tool_results",
        content: [0, 1, 2].map((n) => ({ name: "look", result: `value ${n}` })),
      },
    ]);
  });

  it("a text is added to the history as the answer and leaves the loop (S0-14)", async () => {
    const model = scriptedModel([{ text: "Hello." }, { text: "never asked for" }]);
    const result = await run(defineAgent({ name: "a", model, tools: [look] }), "Hi");
    expect(model.requests).toHaveLength(1);
    expect(toSeedMessages(result.history).at(-1)).toEqual({
      role: "assistant",
      type: "assistant_response",
      content: "Hello.",
    });
  });

  it("a limit without an answer returns a friendly text, throws nothing, and the next run sees it (S0-15)", async () => {
    const store = memory();
    const options = { session: "s", store };
    const limited = defineAgent({
      name: "a",
      model: createEndlessModel(),
      tools: [look],
      policy: { maxTurns: 2, onLimit: ["clarify"] },
    });
    const { text } = await run(limited, "Find all", options);
    expect(text).toContain("Could you tell me a little more");
    const model = scriptedModel([{ text: "Sure." }]);
    await run(defineAgent({ name: "a", model }), "The first one.", options);
    expect(model.requests[0]?.history.slice(-2)).toEqual([
      { type: "assistant", parts: [{ type: "text", text }] },
      { type: "user", content: "The first one." },
    ]);
  });

  it("calls win over text, so the model sees their results; an empty list of calls does not count (D-02)", async () => {
    const replies = [
      { text: "Looking.", toolCalls: [{ name: "look", args: { n: 1 } }] },
      { text: "The value of 1.", toolCalls: [] },
    ];
    const seen: number[] = [];
    const model = fromGenerate((messages) => {
      seen.push(messages.length);
      return replies[seen.length - 1] ?? {};
    });
    const result = await run(defineAgent({ name: "a", model, tools: [look] }), "Find 1");
    expect(seen).toEqual([1, 3]);
    expect(result).toMatchObject({ status: "done", text: "The value of 1." });
  });
});

describe("any client", () => {
  it("a model client and tools are injected; a client with one method is enough (S0-41, S0-44, D-04)", async () => {
    class Client {
      readonly replies = ["Hello from the client."];
      async generate(): Promise<{ text: string | null; toolCalls: null }> {
        return { text: this.replies.shift() ?? null, toolCalls: null };
      }
    }
    const agent = defineAgent({ name: "a", model: fromGenerate(new Client(), "mine"), tools: [look] });
    const { facts, result } = await collect(run(agent, "Hi"));
    expect(result.text).toBe("Hello from the client.");
    expect(facts.find((fact) => fact.type === "message")).toMatchObject({ model: "mine" });
  });

  it("history, tools, limits and errors do not depend on the client (S0-45)", async () => {
    const failing = defineTool({
      name: "fail",
      description: "Fails",
      input: { type: "object" },
      execute: () => ({ error: "no luck" }),
    });
    const script = (index: number) =>
      index < 2 ? [{ id: `c${index}`, name: index === 0 ? "look" : "fail", input: { n: index } }] : [];
    const streaming = scriptedModel((_request, index) => ({
      ...(index < 2 ? { calls: script(index) } : { text: "Done." }),
      usage: null,
      split: 1,
    }));
    let asked = 0;
    const oneShot = fromGenerate(() => {
      const calls = script(asked++);
      return calls.length > 0
        ? { toolCalls: calls.map(({ id, name, input }) => ({ id, name, args: input })) }
        : { text: "Done." };
    });
    const outcomes = await Promise.all(
      [streaming, oneShot].map(async (model) => {
        const agent = defineAgent({ name: "a", model, tools: [look, failing] });
        const { facts, result } = await collect(run(agent, "Go", { clock: fakeClock() }));
        const { history, status, text, turns, toolCalls } = result;
        return { types: listTypes(facts), history, status, text, turns, toolCalls };
      }),
    );
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(outcomes[0]).toMatchObject({ status: "done", turns: 3 });
  });
});

describe("finish reasons and failures", () => {
  it("an answer truncated at the output limit is returned with the status `limit` (S1-30)", async () => {
    const model = scriptedModel([{ text: "Half of", finish: "length" }]);
    const policy = { onOutputLimit: "stop" } as const;
    const { facts, result } = await collect(run(defineAgent({ name: "a", model, policy }), "Hi"));
    expect(listTypes(facts).slice(-3)).toEqual(["turn_end", "limit_reached", "done"]);
    expect(facts.at(-2)).toMatchObject({ code: "output_truncated" });
    expect(facts.find((fact) => fact.type === "message")).toMatchObject({ stopReason: "length" });
    expect(result).toMatchObject({ status: "limit", text: "Half of", stopReason: "length" });
  });

  it("a content filter ends the run with its reason (S1-30)", async () => {
    const model = scriptedModel([{ finish: "content_filter" }]);
    const { facts, result } = await collect(run(defineAgent({ name: "a", model }), "Hi"));
    expect(listTypes(facts).slice(-3)).toEqual(["turn_end", "error", "done"]);
    expect(result).toMatchObject({ status: "failed", error: { code: "content_filter" } });
    expect(result.text).toContain("content filter");
  });

  it("a stream that ends without a finish reason is a named error, never half an answer (S1-30)", async () => {
    const model = scriptedModel(() => ({ text: "Half of", finish: "none" }));
    const { events, result } = await collect(
      run(defineAgent({ name: "a", model }), "Hi", { clock: fakeClock({ skipUpToMs: 30_000 }) }),
    );
    expect(result).toMatchObject({ status: "failed", error: { code: "stream_truncated" } });
    expect(events.filter((event) => event.type === "message_restart")).toHaveLength(3);
    expect(events.some((event) => event.type === "message")).toBe(false);
  });

  it("calls of an answer that ended for an unknown reason are not made (S1-30)", async () => {
    let made = 0;
    const tool = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      execute: () => ++made,
    });
    const model = scriptedModel([{ ...createLookStep(1), finish: "other" }, { text: "Done." }]);
    await run(defineAgent({ name: "a", model, tools: [tool] }), "Hi", {
      clock: fakeClock({ skipUpToMs: 30_000 }),
    });
    expect(made).toBe(0);
  });

  it("a provider that fails mid-stream causes an error and then the end, and the iteration stops (S1-31)", async () => {
    const model = scriptedModel(() => ({ text: "Half", error: "model_failed" }));
    const { events, facts, result } = await collect(
      run(defineAgent({ name: "a", model }), "Hi", { clock: fakeClock({ skipUpToMs: 30_000 }) }),
    );
    expect(listTypes(facts)).toEqual([
      "run_start",
      "turn_start",
      "model_failed",
      "turn_end",
      "error",
      "done",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "done", status: "failed" });
    expect(result.text).toBe("The model could not answer: Scripted: model_failed.");
  });

  it("text streamed in a turn that then calls tools is emitted as it arrives (S1-27)", async () => {
    const model = scriptedModel([
      { ...createLookStep(1), text: "Let me look.", split: 4 },
      { text: "Done." },
    ]);
    const { events } = await collect(run(defineAgent({ name: "a", model, tools: [look] }), "Find 1"));
    const shown = events.filter((event) => event.type === "content_delta" && event.turn === 1);
    expect(shown.map((event) => ("delta" in event ? event.delta : ""))).toEqual(["Let ", "me l", "ook."]);
    expect(events.indexOf(shown[2] as (typeof events)[number])).toBeLessThan(
      events.findIndex((event) => event.type === "tool_call_delta"),
    );
  });
});

describe("tools and answers", () => {
  const samples = {
    message: "Returned 2 node samples.",
    data: {
      nodes: [
        { id: "cat1", name: "Whiskers" },
        { id: "cat2", name: "Mittens" },
      ],
    },
    affected: { nodes: ["cat1"] },
  };
  const sampleData = defineTool({
    name: "sampleData",
    description: "Samples the graph",
    input: { type: "object" },
    effects: "none",
    execute: () => samples,
  });

  it("after a tool the model is called again, and its second text is the answer, not the tool's message (S2-01, S2-44)", async () => {
    const model = scriptedModel([
      { calls: [{ name: "sampleData" }] },
      { text: "Here are Whiskers and Mittens." },
    ]);
    const result = await run(defineAgent({ name: "a", model, tools: [sampleData] }), "Show me some nodes");
    expect(model.requests).toHaveLength(2);
    expect(result.text).toBe("Here are Whiskers and Mittens.");
    expect(result.text).not.toContain(samples.message);
  });

  it("the second call's history holds the tool's message and its real data (S2-02, S2-46)", async () => {
    const model = scriptedModel((request) => {
      const found = request.history.find((entry): entry is ResultEntry => entry.type === "result");
      if (!found) return { calls: [{ name: "sampleData" }] };
      const { data } = JSON.parse(toPlainText(found.content)) as typeof samples;
      return { text: data.nodes.map((node) => `${node.name} (${node.id})`).join(", ") };
    });
    const result = await run(defineAgent({ name: "a", model, tools: [sampleData] }), "Show me some nodes");
    expect(result.text).toBe("Whiskers (cat1), Mittens (cat2)");
    expect(model.requests[1]?.history.at(-1)).toMatchObject({ type: "result", data: samples.data });
  });

  it("the order is user, assistant with its calls, one result per call, text (S2-03, S2-06, S2-14)", async () => {
    const model = scriptedModel([
      { calls: [1, 2].map((n) => ({ id: `c${n}`, name: "look", input: { n } })) },
      { text: "Both found." },
    ]);
    const result = await run(defineAgent({ name: "a", model, tools: [look] }), "Find 1, 2");
    expect(toConversationTurns(result.history)).toEqual([
      { role: "user", content: "Find 1, 2" },
      {
        role: "assistant",
        content: null,
        toolCalls: [
          { id: "c1", name: "look" },
          { id: "c2", name: "look" },
        ],
      },
      { role: "tool", toolCallId: "c1", content: "the value of 1" },
      { role: "tool", toolCallId: "c2", content: "the value of 2" },
      { role: "assistant", content: "Both found." },
    ]);
  });

  it("one call of `run` loops by itself until it has the answer (S2-04, S2-10)", async () => {
    const model = scriptedModel([
      createLookStep(1),
      createLookStep(2),
      createLookStep(3),
      { text: "1, 2, 3." },
    ]);
    const execute = async (input: string) => {
      const { status, text } = await run(defineAgent({ name: "a", model, tools: [look] }), input);
      return { success: status === "done", message: text };
    };
    expect(await execute("Find 1, 2, 3")).toEqual({ success: true, message: "1, 2, 3." });
    expect(model.requests[0]?.history).toEqual([{ type: "user", content: "Find 1, 2, 3" }]);
  });

  it("an answer without calls is a success with its text, and an empty answer still has a text (S2-12)", async () => {
    const execute = async (steps: readonly ScriptedStep[]) => {
      const agent = defineAgent({ name: "a", model: scriptedModel(steps) });
      const result = await run(agent, "Hi", { clock: fakeClock({ skipUpToMs: 30_000 }) });
      const { status, text } = result;
      return { success: status === "done", message: text, llmText: status === "done" ? text : null };
    };
    expect(await execute([{ text: "Hello." }])).toEqual({
      success: true,
      message: "Hello.",
      llmText: "Hello.",
    });
    expect(await execute([{}, {}, {}])).toEqual({
      success: false,
      message: "The model could not answer: The model gave neither text nor a tool call.",
      llmText: null,
    });
  });

  it("text that comes with calls stays in the history, where the model sees it (S2-13, C-16)", async () => {
    const model = scriptedModel([{ ...createLookStep(1), text: "Let me look." }, { text: "Done." }]);
    await run(defineAgent({ name: "a", model, tools: [look] }), "Find 1");
    expect(model.requests[1]?.history[1]).toEqual({
      type: "assistant",
      parts: [
        { type: "text", text: "Let me look." },
        { type: "call", id: "c1", name: "look", input: { n: 1 } },
      ],
    });
  });

  it("changes made by tools are collected during the run and reported at the end (S2-15)", async () => {
    const style = defineTool({
      name: "style",
      description: "Styles nodes",
      input: { type: "object", properties: { ids: { type: "array", items: { type: "string" } } } },
      execute: ({ ids }) => ({ message: "ok", affected: { nodes: ids ?? [] } }),
    });
    const model = scriptedModel([
      { calls: [{ name: "style", input: { ids: ["cat1"] } }] },
      { calls: [{ name: "style", input: { ids: ["cat2", "cat3"] } }] },
      { text: "Three cats are blue." },
    ]);
    const result = await run(defineAgent({ name: "a", model, tools: [style] }), "Blue cats");
    expect(result.affected).toEqual([{ nodes: ["cat1"] }, { nodes: ["cat2", "cat3"] }]);
  });

  it("the facts show that a turn starts after tools, and with which results (S2-20, S2-21)", async () => {
    const broken = defineTool({
      name: "broken",
      description: "Fails",
      input: { type: "object" },
      execute: () => ({ error: "no" }),
    });
    const model = scriptedModel([
      { calls: [{ name: "look", input: { n: 1 } }, { name: "broken" }] },
      { text: "Done." },
    ]);
    const { facts } = await collect(run(defineAgent({ name: "a", model, tools: [look, broken] }), "Go"));
    const aiEvents = (all: readonly Fact[]) => {
      let toolResults: { name: string; success: boolean }[] = [];
      return all.flatMap((fact) => {
        if (fact.type === "tool_call_result") toolResults.push({ name: fact.name, success: !fact.is_error });
        if (fact.type !== "turn_start" || toolResults.length === 0) return [];
        const processing = { type: "ai-processing-tool-results", toolResults };
        toolResults = [];
        return [
          { type: "ai-turn-start", turnNumber: fact.turn, messageCount: fact.messageCount },
          processing,
        ];
      });
    };
    expect(aiEvents(facts)).toEqual([
      { type: "ai-turn-start", turnNumber: 2, messageCount: 4 },
      {
        type: "ai-processing-tool-results",
        toolResults: [
          { name: "look", success: true },
          { name: "broken", success: false },
        ],
      },
    ]);
  });

  it("each turn and each call has its own latency (S2-58)", async () => {
    const clock = fakeClock({ skipUpToMs: 5000 });
    const slow = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      async execute(_input, { signal }) {
        await sleep(clock, 300, signal);
        return "ok";
      },
    });
    const model = scriptedModel(
      [
        { ...createLookStep(1), delayMs: 500 },
        { text: "Done.", delayMs: 2000 },
      ],
      { wait: (ms, signal) => sleep(clock, ms, signal) },
    );
    const { facts, result } = await collect(
      run(defineAgent({ name: "a", model, tools: [slow] }), "Go", { clock }),
    );
    expect(facts.flatMap((fact) => (fact.type === "message" ? [fact.ms] : []))).toEqual([500, 2000]);
    expect(result.toolCalls.map((call) => call.ms)).toEqual([300]);
    const turns = facts.filter((fact) => fact.type === "turn_start" || fact.type === "turn_end");
    expect(turns.map((fact) => fact.at - (facts[0]?.at ?? 0))).toEqual([0, 800, 800, 2800]);
  });
});

describe("several runs in one session", () => {
  const remembering = (memoryPolicy: "session" | "run" | "client") => {
    const model = scriptedModel((_request, index) => ({ text: `Answer ${index + 1}.` }));
    return { model, agent: defineAgent({ name: "a", model, policy: { memory: memoryPolicy } }) };
  };
  const texts = (history: readonly Entry[] = []) =>
    history.map((entry) =>
      entry.type === "assistant" ? getText(entry) : entry.type === "user" ? toPlainText(entry.content) : "",
    );

  it("the next question sees the whole conversation (S0-18)", async () => {
    const { model, agent } = remembering("session");
    const options = { session: "s", store: memory() };
    await run(agent, "One?", options);
    await run(agent, "Two?", options);
    await run(agent, "Three?", options);
    expect(texts(model.requests[2]?.history)).toEqual([
      ...["One?", "Answer 1."],
      ...["Two?", "Answer 2."],
      "Three?",
    ]);
  });

  it("facts are numbered across the runs of a session", async () => {
    const { agent } = remembering("session");
    const store = memory();
    await run(agent, "One?", { session: "s", store, runId: "r1" });
    await run(agent, "Two?", { session: "s", store, runId: "r2" });
    const facts = await store.read("s");
    expect(facts.map((fact) => fact.seq)).toEqual(facts.map((_, index) => index + 1));
    expect(facts.map((fact) => fact.runId)).toEqual([
      ...Array.from({ length: 5 }, () => "r1"),
      ...Array.from({ length: 5 }, () => "r2"),
    ]);
  });

  it("other sessions and other stores are not affected", async () => {
    const { model, agent } = remembering("session");
    const store = memory();
    await run(agent, "One?", { session: "s", store });
    await run(agent, "Two?", { session: "other", store });
    await run(agent, "Three?", { session: "s", store: memory() });
    expect(model.requests.map((request) => texts(request.history))).toEqual([["One?"], ["Two?"], ["Three?"]]);
  });

  it("without a store, runs of one process share a session by its name", async () => {
    const { model, agent } = remembering("session");
    const session = `s.${crypto.randomUUID()}`;
    await run(agent, "One?", { session });
    await run(agent, "Two?", { session });
    await run(agent, "Alone?");
    expect(texts(model.requests[1]?.history)).toEqual(["One?", "Answer 1.", "Two?"]);
    expect(texts(model.requests[2]?.history)).toEqual(["Alone?"]);
  });

  it.each([
    "run",
    "client",
  ] as const)("with memory %s a run knows only what it was given (S2-06)", async (kind) => {
    const { model, agent } = remembering(kind);
    const options = { session: "s", store: memory() };
    await run(agent, "One?", options);
    await run(agent, "Two?", options);
    await run(
      agent,
      [
        { role: "user", content: "Earlier?" },
        { role: "assistant", content: "Yes." },
        { role: "user", content: "Three?" },
      ],
      options,
    );
    expect(model.requests.map((request) => texts(request.history))).toEqual([
      ["One?"],
      ["Two?"],
      ["Earlier?", "Yes.", "Three?"],
    ]);
  });

  it("a run without session memory does not make later runs forget the session", async () => {
    const { model, agent } = remembering("session");
    const options = { session: "s", store: memory() };
    await run(agent, "One?", options);
    await run(agent, "Aside?", { ...options, policy: { memory: "run" } });
    await run(agent, "Two?", options);
    expect(texts(model.requests[1]?.history)).toEqual(["Aside?"]);
    expect(texts(model.requests[2]?.history).slice(0, 2)).toEqual(["One?", "Answer 1."]);
  });

  it("with `onBusy: reject` a second run is rejected while the first is active, which is not disturbed", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel([{ text: "One.", delayMs: 0 }, { text: "Two." }], {
      wait: () => gate.promise,
    });
    const agent = defineAgent({ name: "a", model });
    const options = { session: "s", store: memory(), policy: { onBusy: "reject" } } as const;
    const first = run(agent, "One?", options);
    await expect(run(agent, "Two?", options)).rejects.toMatchObject({ code: "session_busy" });
    gate.resolve();
    expect(await first).toMatchObject({ status: "done", text: "One." });
    expect(await run(agent, "Two?", options)).toMatchObject({ status: "done", text: "Two." });
  });

  it("with `onBusy: reject` a new run is rejected while another one waits, and the iteration throws the reason", async () => {
    const ask = defineTool({
      name: "ask",
      description: "Asks",
      input: { type: "object" },
      needsApproval: true,
      execute: () => "ok",
    });
    const model = scriptedModel([
      { calls: [{ id: "c1", name: "ask" }] },
      { text: "Done." },
      { text: "Next." },
    ]);
    const agent = defineAgent({ name: "a", model, tools: [ask] });
    const options = { session: "s", store: memory(), policy: { onBusy: "reject" } } as const;
    const waiting = run(agent, "One?", { ...options, runId: "r1" });
    expect((await waiting).status).toBe("waiting");
    await expect(collect(run(agent, "Two?", options))).rejects.toMatchObject({
      code: "session_busy",
      message: expect.stringContaining('unfinished run "r1"'),
    });
    expect((await waiting.approve("c1")).status).toBe("done");
    expect((await run(agent, "Two?", options)).text).toBe("Next.");
  });

  it("the same run id is the same run: it is not performed again", async () => {
    const { model, agent } = remembering("session");
    const options = { session: "s", store: memory(), runId: "r1" };
    const first = await run(agent, "One?", options);
    const again = await run(agent, "One?", options);
    expect(model.requests).toHaveLength(1);
    expect(again).toEqual({ ...first, orThrow: expect.any(Function) });
  });

  it.each([
    ["with other words", "s", "Two?"],
    ["in another session", "t", "One?"],
  ])("the same run id %s is refused, and nothing is performed or stored", async (_, session, words) => {
    const { model, agent } = remembering("session");
    const store = memory();
    await run(agent, "One?", { session: "s", store, runId: "r1" });
    await expect(run(agent, words, { session, store, runId: "r1" })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining('Run "r1" already exists in session "s"'),
    });
    expect(model.requests).toHaveLength(1);
    expect((await store.list()).map(({ id, facts }) => [id, facts])).toEqual([["s", 5]]);
  });
});

describe("the options of a run", () => {
  it("instructions are rebuilt every turn from time, tools, context and fragments (S3-01, S3-02)", async () => {
    const find = defineTool({
      name: "find",
      description: "Finds",
      input: { type: "object" },
      execute: () => ({
        content: "one hit",
        contexts: [{ id: "d1", content: "Budget 2026", source: { title: "Mail" } }],
      }),
    });
    const inputs: InstructionsInput[] = [];
    const model = scriptedModel([{ calls: [{ name: "find" }] }, { text: "Done." }]);
    const agent = defineAgent({
      name: "a",
      model,
      tools: [find],
      instructions(input) {
        inputs.push(input);
        return `Turn ${input.turn}: ${input.fragments.map((fragment) => fragment.content).join()}`;
      },
    });
    await run(agent, "Budget?", { context: { email: "ada@example.com" }, clock: fakeClock() });
    expect(model.requests.map((request) => request.instructions)).toEqual([
      "Turn 1: ",
      "Turn 2: Budget 2026",
    ]);
    expect(inputs[1]).toMatchObject({
      turn: 2,
      maxTurns: 10,
      tools: [{ name: "find", description: "Finds" }],
      context: { email: "ada@example.com" },
    });
    expect(model.requests[0]?.history).toEqual([{ type: "user", content: "Budget?" }]);
  });

  it("dates use the client's time zone (S3-03, S3-64)", async () => {
    const model = scriptedModel(() => ({ text: "ok" }));
    const agent = defineAgent({ name: "a", model, instructions: ({ now }) => now });
    const clock = fakeClock({ start: Date.UTC(2026, 0, 1, 20) });
    const { facts } = await collect(run(agent, "Hi", { clock, timeZone: "Asia/Tokyo" }));
    await run(agent, "Hi", { clock, timeZone: "America/New_York" });
    expect(model.requests.map((request) => request.instructions)).toEqual([
      expect.stringMatching(/^Friday,? 2 January 2026 at 05:00 \(Asia\/Tokyo\)$/),
      expect.stringMatching(/^Thursday,? 1 January 2026 at 15:00 \(America\/New_York\)$/),
    ]);
    expect(facts[0]).toMatchObject({ type: "run_start", timeZone: "Asia/Tokyo" });
  });

  it("an async event hook that rejects is reported once, like one that throws", async () => {
    const heard: string[] = [];
    const onEvent = async ({ type }: { type: string }) => {
      heard.push(type);
      throw new Error("the database is down");
    };
    const model = scriptedModel([createLookStep(1), { text: "ok" }]);
    const agent = defineAgent({ name: "a", model, tools: [look] });
    const { facts, result } = await collect(run(agent, "Hi", { hooks: { onEvent } }));
    expect(result.status).toBe("done");
    const warnings = facts.filter((fact) => fact.type === "warning");
    expect(warnings).toMatchObject([{ code: "hook_failed", message: expect.stringContaining("is down") }]);
    expect(heard.length).toBeLessThan(facts.length);
  });

  it("a tool that changes its input does not change the stored call", async () => {
    const edits = defineTool({
      name: "edits",
      description: "Changes its input",
      input: { type: "object", properties: { path: { type: "string" } } },
      execute(input) {
        Object.assign(input, { path: "/home/ada/a.txt" });
        return "ok";
      },
    });
    const model = scriptedModel([
      { calls: [{ id: "c", name: "edits", input: { path: "a.txt" } }] },
      { text: "ok" },
    ]);
    const { toolCalls } = await run(defineAgent({ name: "a", model, tools: [edits] }), "Go");
    expect(toolCalls).toMatchObject([{ input: { path: "a.txt" } }]);
    expect(JSON.stringify(model.requests[1]?.history)).not.toContain("/home/ada");
  });

  it("an unknown time zone is rejected before the model is called, and nothing is stored", async () => {
    const model = scriptedModel(() => ({ text: "ok" }));
    const store = memory();
    const started = run(defineAgent({ name: "a", model }), "Hi", { store, timeZone: "Atlantis/Poseidonis" });
    await expect(started).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining('Unknown time zone "Atlantis/Poseidonis"'),
    });
    expect(model.requests).toEqual([]);
    expect(await store.list()).toEqual([]);
  });

  it("with `requireToolFirst` the first turn requires a tool, and an answer without one is retried (S3-05)", async () => {
    const model = scriptedModel([{ text: "Paris." }, createLookStep(1), { text: "The value of 1." }]);
    const agent = defineAgent({ name: "a", model, tools: [look], policy: { requireToolFirst: true } });
    const result = await run(agent, "Find 1");
    expect(model.requests.map((request) => request.toolChoice)).toEqual(["required", "required", "auto"]);
    expect(model.requests[1]?.instructions).toContain("call a tool first");
    expect(result).toMatchObject({ text: "The value of 1.", grounded: true });
  });

  it("an answer that still uses no tool is returned and flagged (S3-05)", async () => {
    const model = scriptedModel([{ text: "Paris." }, { text: "Still Paris." }]);
    const agent = defineAgent({ name: "a", model, tools: [look], policy: { requireToolFirst: true } });
    const { facts, result } = await collect(run(agent, "Find 1"));
    expect(result).toMatchObject({ status: "done", text: "Still Paris.", grounded: false });
    expect(facts.find((fact) => fact.type === "warning")).toMatchObject({ code: "tool_first_ignored" });
  });

  it("the runtime adds no plan, tool or strategy (S3-18)", async () => {
    const model = scriptedModel([createLookStep(1), createLookStep(2), { text: "Done." }]);
    const agent = defineAgent({ name: "a", model, tools: [look], instructions: "You are Xyne." });
    await run(agent, "Find 1, then 2");
    expect(
      model.requests.map(({ instructions, tools }) => [instructions, tools.map(({ name }) => name)]),
    ).toEqual(Array.from({ length: 3 }, () => ["You are Xyne.", ["look"]]));
    expect(model.requests[2]?.history.map((entry) => entry.type)).toEqual([
      "user",
      ...["assistant", "result"],
      ...["assistant", "result"],
    ]);
  });

  it("one context object reaches the instructions and every tool (S4-24, S3-49)", async () => {
    const context = { email: "ada@example.com", rights: ["read"] };
    const seen: unknown[] = [];
    const tool = (name: string) =>
      defineTool({
        name,
        description: name,
        input: { type: "object" },
        execute: (_input, given) => seen.push(given.context),
      });
    const model = scriptedModel([{ calls: [{ name: "one" }, { name: "two" }] }, { text: "Done." }]);
    const agent = defineAgent({
      name: "xyne",
      model,
      tools: [tool("one"), tool("two")],
      instructions: (input) => String(seen.push(input.context)),
    });
    const { facts, result } = await collect(run(agent, "Go", { context }));
    expect(seen).toHaveLength(4);
    for (const one of seen) expect(one).toBe(context);
    const state = fold(result.sessionId, facts);
    expect({ messages: state.history.length, currentAgentName: state.run?.agent }).toEqual({
      messages: 5,
      currentAgentName: "xyne",
    });
  });

  it("the state has turn, limit, messages, context, calls, reasoning and session (S4-23)", async () => {
    const model = scriptedModel([{ ...createLookStep(1), reasoning: "I must look." }, { text: "Done." }]);
    const agent = defineAgent({ name: "a", model, tools: [look], policy: { maxTurns: 4 } });
    const { facts } = await collect(run(agent, "Find 1", { session: "s1", store: memory() }));
    const runState = (prefix: readonly Fact[]) => {
      const { sessionId, history, run: current } = fold("s1", prefix);
      const maxTurns = current?.policy.maxTurns ?? 0;
      return {
        sessionId,
        currentTurn: current?.turn,
        maxTurns,
        messages: history.length,
        toolCallHistory: current?.toolCalls.map((call) => call.name),
        reasoningSteps: current?.reasoning.map((step) => step.text),
        canContinue: !current?.done && (maxTurns === "unlimited" || (current?.turn ?? 0) < maxTurns),
      };
    };
    const afterTool = facts.findIndex((fact) => fact.type === "tool_call_result") + 1;
    expect(runState(facts.slice(0, afterTool))).toEqual({
      sessionId: "s1",
      currentTurn: 1,
      maxTurns: 4,
      messages: 3,
      toolCallHistory: ["look"],
      reasoningSteps: ["I must look."],
      canContinue: true,
    });
    expect(runState(facts)).toMatchObject({ currentTurn: 2, messages: 4, canContinue: false });
  });
});

describe("turns", () => {
  it("the loop keeps its state between turns and ends at ten by default (S3-13, S4-11)", async () => {
    const model = createEndlessModel();
    const { facts } = await collect(run(defineAgent({ name: "a", model, tools: [look] }), "Find all"));
    expect(facts.flatMap((fact) => (fact.type === "turn_start" ? [[fact.turn, fact.maxTurns]] : []))).toEqual(
      Array.from({ length: 10 }, (_, index) => [index + 1, 10]),
    );
    expect(model.requests.map((request) => request.history.length)).toEqual(
      Array.from({ length: 10 }, (_, index) => 1 + 2 * index),
    );
  });

  it("the history keeps calls and results together, in a form every provider accepts (S3-15)", async () => {
    const model = scriptedModel([
      { calls: [1, 2].map((n) => ({ id: `c${n}`, name: "look", input: { n } })) },
      { calls: [{ id: "c1", name: "look", input: { n: 3 } }] },
      { text: "Done." },
    ]);
    await run(defineAgent({ name: "a", model, tools: [look] }), "Find");
    for (const { history } of model.requests) {
      const calls = history.flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []));
      const results = history.filter((entry): entry is ResultEntry => entry.type === "result");
      expect(results.map((result) => result.callId)).toEqual(calls.map((call) => call.id));
      expect(new Set(calls.map((call) => call.id)).size).toBe(calls.length);
    }
    expect(model.requests[2]?.history[4]).toMatchObject({
      parts: [{ type: "call", id: "c1~2", providerId: "c1" }],
    });
  });

  it("monitoring reads starts, model calls, tool calls and ends from the events, while they happen (S3-16)", async () => {
    const names: { readonly [type: string]: string } = {
      turn_start: "turn_start",
      message: "llm_call_end",
      tool_call_start: "tool_call_start",
      tool_call_result: "tool_call_end",
      turn_end: "turn_end",
      done: "run_end",
    };
    const seen: string[] = [];
    const seenByTool: string[][] = [];
    const spying = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      execute: () => seenByTool.push([...seen]),
    });
    const model = scriptedModel([createLookStep(1), { text: "Done." }]);
    await run(defineAgent({ name: "a", model, tools: [spying] }), "Find 1", {
      hooks: {
        onEvent({ type }) {
          const name = names[type];
          if (name) seen.push(name);
        },
      },
    });
    expect(seenByTool).toEqual([["turn_start", "llm_call_end", "tool_call_start"]]);
    expect(seen).toEqual([
      ...["turn_start", "llm_call_end", "tool_call_start", "tool_call_end", "turn_end"],
      ...["turn_start", "llm_call_end", "turn_end"],
      "run_end",
    ]);
  });

  it("a turn is one model call with its tool calls, and reports its usage (S3-35)", async () => {
    const model = scriptedModel([
      {
        calls: [1, 2].map((n) => ({ name: "look", input: { n } })),
        usage: { inputTokens: 30, outputTokens: 7 },
      },
      { text: "Done.", usage: { inputTokens: 50, outputTokens: 9 } },
    ]);
    const { facts, result } = await collect(run(defineAgent({ name: "a", model, tools: [look] }), "Find"));
    const turns = Map.groupBy(
      facts.filter((fact) => fact.turn > 0 && fact.type !== "done"),
      (fact) => fact.turn,
    );
    expect(
      [...turns].map(([turn, all]) => [turn, all.filter((fact) => fact.type === "message").length]),
    ).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(turns.get(1)?.filter((fact) => fact.type === "tool_call_result")).toHaveLength(2);
    expect(facts.flatMap((fact) => (fact.type === "turn_end" ? [fact.usage] : []))).toEqual([
      { inputTokens: 30, outputTokens: 7 },
      { inputTokens: 50, outputTokens: 9 },
    ]);
    expect(result.usage).toEqual({ inputTokens: 80, outputTokens: 16 });
  });

  it("a turn starts, calls the model, runs tools and ends; then the run exits, continues, or reaches its limit (S3-36)", async () => {
    const agent = defineAgent({
      name: "a",
      model: createEndlessModel(),
      tools: [look],
      policy: { maxTurns: 2, finalTurn: "keep-tools" },
    });
    const { facts, result } = await collect(run(agent, "Find all"));
    const turn = ["turn_start", "message", "tool_call_start", "tool_call_result", "turn_end"];
    expect(listTypes(facts)).toEqual(["run_start", ...turn, ...turn, "limit_reached", "done"]);
    expect(result).toMatchObject({ status: "limit", error: { code: "max_turns" } });
  });

  it("a question that needs no tool takes one turn, and no more than five facts (S3-37, S4-58, C-25)", async () => {
    const model = scriptedModel([{ text: "The answer is 4." }]);
    const { facts, result } = await collect(
      run(defineAgent({ name: "a", model, tools: [look] }), "What's 2+2?"),
    );
    expect(result).toMatchObject({ status: "done", text: "The answer is 4.", turns: 1, toolCalls: [] });
    expect(listTypes(facts)).toEqual(["run_start", "turn_start", "message", "turn_end", "done"]);
  });

  it("without tools it is plain chat, even on the last turn: no notes, no tools (S4-59, C-25)", async () => {
    const model = scriptedModel([{ text: "Hello." }]);
    const agent = defineAgent({ name: "a", model, instructions: "Chat.", policy: { maxTurns: 1 } });
    const result = await run(agent, "Hi");
    expect(model.requests[0]).toMatchObject({ instructions: "Chat.", tools: [], toolChoice: "none" });
    expect(result).toMatchObject({ status: "done", text: "Hello." });
  });

  it("the log lines of start and `Turn n/max` follow from the facts (S4-13)", async () => {
    const model = scriptedModel([createLookStep(1), { text: "Done." }]);
    const { facts } = await collect(
      run(defineAgent({ name: "a", model, tools: [look] }), "Find 1", { session: "s1", store: memory() }),
    );
    const lines = facts.flatMap((fact) => {
      if (fact.type === "run_start") return [`Starting agentic loop for session ${fact.sessionId}`];
      return fact.type === "turn_start" ? [`Turn ${fact.turn}/${fact.maxTurns}`] : [];
    });
    expect(lines).toEqual(["Starting agentic loop for session s1", "Turn 1/10", "Turn 2/10"]);
  });

  it("results of a turn are added, failed ones too, and the next turn begins (S4-18)", async () => {
    const broken = defineTool({
      name: "broken",
      description: "Fails",
      input: { type: "object" },
      execute: () => ({ error: "no" }),
    });
    const model = scriptedModel([
      { calls: [{ name: "broken" }, { name: "look", input: { n: 1 } }] },
      { text: "Done." },
    ]);
    const agent = defineAgent({
      name: "a",
      model,
      tools: [look, broken],
      policy: { onAllToolsFailed: "answer-from-knowledge" },
    });
    const result = await run(agent, "Go");
    const statuses = model.requests[1]?.history.flatMap((entry) =>
      entry.type === "result" ? [entry.status] : [],
    );
    expect(statuses).toEqual(["error", "ok"]);
    expect(model.requests[1]?.tools).toHaveLength(2);
    expect(result).toMatchObject({ status: "done", turns: 2, grounded: true });
  });

  it("a final output ends the run at once (S4-19)", async () => {
    const model = scriptedModel([createLookStep(1), { text: "Final." }, { text: "never" }]);
    const { facts, result } = await collect(run(defineAgent({ name: "a", model, tools: [look] }), "Find 1"));
    expect(model.requests).toHaveLength(2);
    expect(facts.at(-1)).toMatchObject({ type: "done", status: "done", text: "Final." });
    expect(facts.filter((fact) => fact.type === "done")).toHaveLength(1);
    expect(result.text).toBe("Final.");
  });
});

describe("reasoning", () => {
  const thinking = [
    { ...createLookStep(1), reasoning: "I must look." },
    { text: "Done.", reasoning: "Enough." },
  ];

  it("a result has the output, the reasoning, the calls, the usage and the session (S4-12, S4-15)", async () => {
    const agent = defineAgent({ name: "a", model: scriptedModel(thinking), tools: [look] });
    const result = await run(agent, "Find 1", { session: "s1", store: memory(), clock: fakeClock() });
    const { text, reasoning, toolCalls, usage, sessionId } = result;
    expect({ text, reasoning, toolCalls, usage, sessionId }).toEqual({
      text: "Done.",
      reasoning: [
        { turn: 1, text: "I must look." },
        { turn: 2, text: "Enough." },
      ],
      toolCalls: [
        {
          id: "c1",
          name: "look",
          input: { n: 1 },
          result: "the value of 1",
          status: "ok",
          attempts: 1,
          ms: 0,
        },
      ],
      usage: { inputTokens: 20, outputTokens: 10 },
      sessionId: "s1",
    });
  });

  it("reasoning is shown and stored, is never part of the answer, and changes nothing (S3-47, C-21)", async () => {
    const outcome = async (steps: readonly ScriptedStep[]) => {
      const model = scriptedModel(steps);
      const { events, facts, result } = await collect(
        run(defineAgent({ name: "a", model, tools: [look] }), "Find 1"),
      );
      const shown = events.flatMap((event) => (event.type === "reasoning_delta" ? [event.delta] : []));
      const instructions = model.requests.map((request) => request.instructions);
      return { shown, facts: listTypes(facts), text: result.text, turns: result.turns, instructions };
    };
    const silent = thinking.map(({ reasoning: _thought, ...step }) => step);
    const [loud, quiet] = [await outcome(thinking), await outcome(silent)];
    expect(loud.shown).toEqual(["I must look.", "Enough."]);
    expect(loud).toEqual({ ...quiet, shown: loud.shown });
    expect(loud.text).toBe("Done.");
  });

  it("opaque reasoning data stays in the history unchanged, for the provider (C-21)", async () => {
    const opaque = { signature: "c2lnbmVk" };
    let asked = 0;
    const model = {
      id: "signing",
      async *stream() {
        asked += 1;
        if (asked === 1)
          yield [
            { type: "reasoning", text: "I must look.", opaque },
            { type: "call_start", index: 0, id: "c1", name: "look" },
            { type: "finish", reason: "tool_calls" },
          ] as const;
        else
          yield [
            { type: "text", text: "Done." },
            { type: "finish", reason: "stop" },
          ] as const;
      },
    };
    const { history } = await run(defineAgent({ name: "a", model, tools: [look] }), "Find 1");
    expect(history[1]).toMatchObject({
      parts: [{ type: "reasoning", text: "I must look.", opaque }, { type: "call" }],
    });
  });

  it("the steps of the reasoning follow from the facts (S3-46)", async () => {
    const agent = defineAgent({ name: "a", model: scriptedModel(thinking), tools: [look] });
    const { facts } = await collect(run(agent, "Find 1"));
    const steps = facts.flatMap((fact) => {
      switch (fact.type) {
        case "turn_start":
          return [{ type: "Iteration", iteration: fact.turn }];
        case "tool_call_start":
          return [{ type: "ToolExecuting", iteration: fact.turn, details: fact.name }];
        case "tool_call_result":
          return [{ type: "ToolResult", iteration: fact.turn, details: toPlainText(fact.result) }];
        case "done":
          return [{ type: "Synthesis", iteration: fact.turn, details: fact.text }];
        default:
          return [];
      }
    });
    expect(steps).toEqual([
      { type: "Iteration", iteration: 1 },
      { type: "ToolExecuting", iteration: 1, details: "look" },
      { type: "ToolResult", iteration: 1, details: "the value of 1" },
      { type: "Iteration", iteration: 2 },
      { type: "Synthesis", iteration: 2, details: "Done." },
    ]);
  });
});

describe("resume", () => {
  const script = [
    createLookStep(1),
    { calls: [2, 3].map((n) => ({ id: `c${n}`, name: "look", input: { n } })) },
  ];
  const counting = (calls: string[]) =>
    defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object", properties: { n: { type: "number" } } },
      effects: "none",
      execute({ n }) {
        calls.push(`look ${n}`);
        return `value ${n}`;
      },
    });
  /** Chooses the next step by the history, as a real model would. */
  const agentThat = (calls: string[]) =>
    defineAgent({
      name: "a",
      model: scriptedModel(({ history }) => {
        calls.push("model");
        return script[history.filter((entry) => entry.type === "assistant").length] ?? { text: "Done." };
      }),
      tools: [counting(calls)],
    });

  it("resumes from any prefix of the facts, repeats no finished effect, and ends the same", async () => {
    const whole: string[] = [];
    const options = { session: "s", store: memory(), runId: "r", clock: fakeClock() };
    const { facts, result } = await collect(run(agentThat(whole), "Find", options));
    expect(whole).toEqual(["model", "look 1", "model", "look 2", "look 3", "model"]);
    for (let length = 1; length <= facts.length; length++) {
      const prefix = JSON.parse(JSON.stringify(facts.slice(0, length))) as Fact[];
      const calls: string[] = [];
      const resumed = await collect(resume(agentThat(calls), prefix, { clock: fakeClock() }));
      const finished = prefix.filter((fact) => fact.type === "message" || fact.type === "tool_call_result");
      expect(calls).toHaveLength(whole.length - finished.length);
      expect(resumed.result.history).toEqual(result.history);
      expect(resumed.result).toMatchObject({ status: "done", text: "Done.", turns: 3 });
      expect([...prefix, ...resumed.facts].map((fact) => fact.seq)).toEqual(
        Array.from({ length: length + resumed.facts.length }, (_, index) => index + 1),
      );
    }
  });

  it("resumes from a store by the id of the run", async () => {
    const store = memory();
    const failing = { ...store };
    let appends = 0;
    failing.append = (...given) => {
      appends += 1;
      return appends === 5 ? Promise.reject(new Error("disk full")) : store.append(...given);
    };
    const calls: string[] = [];
    await expect(run(agentThat(calls), "Find", { session: "s", store: failing, runId: "r" })).rejects.toThrow(
      "disk full",
    );
    const result = await resume(agentThat(calls), { store, runId: "r" });
    expect(result).toMatchObject({ status: "done", text: "Done.", runId: "r", sessionId: "s" });
    expect((await store.read("s")).filter((fact) => fact.type === "done")).toHaveLength(1);
  });

  it("an ended run returns its result again without calling a model", async () => {
    const calls: string[] = [];
    const store = memory();
    const first = await run(agentThat(calls), "Find", { session: "s", store, runId: "r" });
    await run(agentThat([]), "More", { session: "s", store });
    const before = calls.length;
    const again = await resume(agentThat(calls), { store, runId: "r" });
    expect(calls).toHaveLength(before);
    expect(again).toEqual({ ...first, orThrow: expect.any(Function) });
  });

  it("keeps the policy the run was started with", async () => {
    const facts = await collectFirstFacts();
    const model = createEndlessModel();
    const agent = defineAgent({ name: "a", model, tools: [look], policy: { maxTurns: 50 } });
    expect(await resume(agent, facts)).toMatchObject({ status: "limit", turns: 3 });
    expect(model.requests).toHaveLength(3);
  });

  async function collectFirstFacts(): Promise<Fact[]> {
    const agent = defineAgent({
      name: "a",
      model: createEndlessModel(),
      tools: [look],
      policy: { maxTurns: 3 },
    });
    const { facts } = await collect(run(agent, "Find all"));
    return facts.slice(0, 1);
  }

  it("rejects facts without a run, and a run that is not in the store", async () => {
    const agent = defineAgent({ name: "a", model: createEndlessModel() });
    expect(() => resume(agent, [])).toThrow("`run_start` is missing");
    await expect(resume(agent, { store: memory(), runId: "gone" })).rejects.toMatchObject({
      code: "unknown_run",
    });
  });

  it("names the missing agent", async () => {
    const facts = await collectFirstFacts();
    const other = defineAgent({ name: "b", model: createEndlessModel() });
    await expect(resume([other], facts)).rejects.toMatchObject({
      code: "unknown_agent",
      message: expect.stringContaining('needs the agent "a"; available: "b"'),
    });
  });
});
