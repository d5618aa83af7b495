import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sleep } from "../base/clock.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import type { Chunk, Model } from "../kernel/model.ts";
import { defineTool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { type RunOptions, run } from "./run.ts";

/** A model, a tool that pays and records its payments, and options under which waiting takes no time. */
function setUp(script: readonly ScriptedStep[] | ((n: number) => ScriptedStep)) {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: z.object({ amount: z.number().optional() }),
    execute({ amount = 0 }) {
      paid.push(amount);
      return `Paid ${amount}.`;
    },
  });
  const model = scriptedModel(typeof script === "function" ? (_request, n) => script(n) : script);
  const options: RunOptions = {
    session: "ses",
    runId: "r",
    store: memory(),
    clock: fakeClock({ skipUpToMs: 30_000 }),
  };
  return { agent: defineAgent({ name: "helper", model, tools: [pay] }), model, options, paid };
}

/** A model that yields these batches of chunks, once. */
function createChunkModel(...batches: (readonly Chunk[])[]): Model {
  return {
    id: "raw",
    async *stream() {
      yield* batches;
    },
  };
}

const end: Chunk = { type: "finish", reason: "stop" };
const listEventTypes = (events: readonly Event[]) => events.map((event) => event.type);

it("a model that sends a chunk every 50 seconds forever is stopped by the step timeout (F14)", async () => {
  const clock = fakeClock({ skipUpToMs: 60_000 });
  const startedAt = clock.now();
  const dripping: Model = {
    id: "drip",
    async *stream(_request, { signal }): AsyncGenerator<Chunk[]> {
      for (;;) {
        yield [{ type: "text", text: "." }];
        await sleep(clock, 50_000, signal);
      }
    },
  };
  const result = await run(defineAgent({ name: "a", model: dripping }), "Hi", { clock });
  expect(result).toMatchObject({ status: "failed", error: { code: "model_timeout" } });
  // Three attempts of ten minutes each, plus the delays between them.
  expect(Math.round((clock.now() - startedAt) / 60_000)).toBe(30);
});

describe("an incomplete call never runs", () => {
  const whole = { name: "pay", input: { amount: 100 } };
  const half = { name: "pay", arguments: '{"amount":10' };
  const faults: readonly (readonly [string, ScriptedStep, string, number])[] = [
    ["the stream ends without a finish", { finish: "none" }, "stream_truncated", 3],
    ["the finish is length", { finish: "length" }, "output_truncated", 2],
    ["the finish is content_filter", { finish: "content_filter" }, "content_filter", 1],
    ["the provider fails", { error: "model_failed" }, "model_failed", 3],
  ];

  it.each(
    faults.flatMap(([what, fault, code, attempts]) => [
      { what, said: "in mid-arguments", step: { calls: [half], ...fault }, code, attempts },
      { what, said: "after whole arguments", step: { calls: [whole], ...fault }, code, attempts },
      {
        what,
        said: "with one whole call before it",
        step: { calls: [whole, half], ...fault },
        code,
        attempts,
      },
    ]),
  )("when $what $said: the run fails as $code after $attempts attempts (F24, F25)", async ({
    step,
    code,
    attempts,
  }) => {
    const { agent, model, options, paid } = setUp(() => step);
    const { facts, result } = await collect(run(agent, "Pay", options));
    expect(paid).toEqual([]);
    expect(listEventTypes(facts)).not.toContain("tool_call_start");
    expect(result).toMatchObject({ status: "failed", error: { code } });
    expect(result.text).not.toBe("");
    expect(model.requests).toHaveLength(attempts);
  });

  it("when the finish reason is unknown", async () => {
    const { agent, options, paid } = setUp((n) =>
      n === 0 ? { calls: [whole], finish: "other" } : { text: "Ok." },
    );
    await run(agent, "Pay", options);
    expect(paid).toEqual([]);
  });

  it("when the provider filters it: no empty answer stays in the history (F25)", async () => {
    const { agent, options } = setUp([{ calls: [whole], finish: "content_filter" }]);
    const { history } = await run(agent, "Pay", options);
    expect(history).toEqual([{ type: "user", content: "Pay" }]);
  });

  it("when the run is cancelled while it is streamed (F37)", async () => {
    const { agent, options, paid } = setUp([{ text: "I will pay.", calls: [whole], hang: true }]);
    const going = run(agent, "Pay", options);
    for await (const event of going) if (event.type === "tool_call_delta") going.cancel();
    const result = await going;
    expect(paid).toEqual([]);
    expect(result).toMatchObject({ status: "cancelled", text: "I will pay." });
    expect(result.history.at(-1)).toEqual({
      type: "assistant",
      parts: [{ type: "text", text: "I will pay." }],
    });
  });

  it("but runs once when the model repeats it, and readers are told to drop the partial message", async () => {
    const { agent, options, paid } = setUp([
      { text: "Paying.", calls: [half], finish: "none" },
      { text: "Paying 7.", calls: [{ name: "pay", input: { amount: 7 } }] },
      { text: "Paid." },
    ]);
    const { events, result } = await collect(run(agent, "Pay", options));
    expect(paid).toEqual([7]);
    expect(result).toMatchObject({ status: "done", text: "Paid.", turns: 2 });
    expect(listEventTypes(events).slice(1, 13)).toEqual([
      "turn_start",
      "content_delta",
      "tool_call_delta",
      "tool_call_delta",
      "message_restart",
      "retry",
      "content_delta",
      "tool_call_delta",
      "tool_call_delta",
      "message",
      "tool_call_start",
      "tool_call_result",
    ]);
    expect(events.find((event) => event.type === "message_restart")).toMatchObject({
      reason: "stream_truncated",
    });
  });

  it("and readers are told to drop it even when only its name was streamed", async () => {
    const cut: Model = createChunkModel([{ type: "call_start", index: 0, id: "c1", name: "pay" }]);
    const { agent, options } = setUp([]);
    const { events } = await collect(
      run({ ...agent, models: { main: [cut], afterTools: [cut], summary: [cut] } }, "Pay", options),
    );
    expect(listEventTypes(events)).toContain("tool_call_delta");
    expect(listEventTypes(events)).toContain("message_restart");
  });

  it("and there is no restart when nothing was streamed", async () => {
    const { agent, options } = setUp([{ error: "model_failed" }, { text: "Hello." }]);
    const { events } = await collect(run(agent, "Hi", options));
    expect(listEventTypes(events)).not.toContain("message_restart");
  });
});

describe("broken arguments", () => {
  it.each([
    ["no JSON", '{"amount":', "they are not valid JSON"],
    ["a list", "[100]", "they must be a JSON object, not an array"],
    ["null", "null", "they must be a JSON object, not null"],
    ["a text", '"100"', "they must be a JSON object, not a string"],
    ["of another type", '{"amount":"much"}', "amount: "],
    [
      "too deep",
      `{"amount":${"[".repeat(5000)}${"]".repeat(5000)}}`,
      "they are nested deeper than 64 levels",
    ],
    ["beyond all numbers", '{"amount":1e999}', "they hold a number too large to represent"],
    ["a prototype", '{"__proto__":{"amount":1}}', 'they hold the key "__proto__"'],
  ])("(%s) give a start and an error result for the call, and the model tries again (S1-28, F32, F33, A118)", async (_what, written, problem) => {
    const { agent, model, options, paid } = setUp([
      { calls: [{ id: "c1", name: "pay", arguments: written }] },
      { calls: [{ id: "c2", name: "pay", input: { amount: 3 } }] },
      { text: "Paid." },
    ]);
    const { facts, result } = await collect(run(agent, "Pay", options));
    expect(
      facts.flatMap((fact) => ("is_error" in fact ? [[fact.type, fact.id, fact.is_error]] : [])),
    ).toEqual([
      ["tool_call_result", "c1", true],
      ["tool_call_result", "c2", false],
    ]);
    expect(facts.flatMap((fact) => (fact.type === "tool_call_start" ? [fact.id] : []))).toEqual(["c1", "c2"]);
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      callId: "c1",
      status: "error",
      content: expect.stringContaining(`Bad arguments for "pay": ${problem}`),
      error: { code: "bad_arguments" },
    });
    expect(paid).toEqual([3]);
    expect(result).toMatchObject({ status: "done", text: "Paid." });
  });

  it("of 10 MB are rejected and not kept in the log (F33)", async () => {
    const { agent, options, paid } = setUp([
      { calls: [{ id: "c1", name: "pay", arguments: `{"amount":1,"note":"${"x".repeat(10_000_000)}"}` }] },
      { text: "Sorry." },
    ]);
    const { facts } = await collect(run(agent, "Pay", options));
    expect(paid).toEqual([]);
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      error: { code: "bad_arguments" },
    });
    expect(JSON.stringify(facts).length).toBeLessThan(3_000_000);
  });

  it("that are empty are {}, which the tool may accept (S1-29, F31)", async () => {
    const { agent, options, paid } = setUp([{ calls: [{ name: "pay", arguments: "" }] }, { text: "Paid." }]);
    await run(agent, "Pay", options);
    expect(paid).toEqual([0]);
  });
});

describe("the id of a call", () => {
  it("is generated when the provider sends none, and is unique in the session (F27)", async () => {
    const { agent, options } = setUp([
      { calls: [{ name: "pay" }, { name: "pay", input: { amount: 1 } }] },
      { calls: [{ id: "call_3_0", name: "pay", input: { amount: 2 } }] },
      { calls: [{ name: "pay", input: { amount: 3 } }] },
      { text: "Paid." },
    ]);
    const { toolCalls } = await run(agent, "Pay", options);
    expect(toolCalls.map(({ id }) => id)).toEqual(["call_1_0", "call_1_1", "call_3_0", "call_3_0~2"]);
  });

  it("that the provider reuses is made unique, and the provider's id is kept (F28)", async () => {
    const { agent, model, options } = setUp([
      { calls: [{ id: "a", name: "pay", input: { amount: 1 } }] },
      { calls: [{ id: "a", name: "pay", input: { amount: 2 } }] },
      { text: "Paid." },
    ]);
    const { toolCalls } = await run(agent, "Pay", options);
    expect(toolCalls.map(({ id, result }) => [id, result])).toEqual([
      ["a", "Paid 1."],
      ["a~2", "Paid 2."],
    ]);
    expect(model.requests[2]?.history.at(-2)).toMatchObject({ parts: [{ id: "a~2", providerId: "a" }] });
    expect(model.requests[2]?.history.at(-1)).toMatchObject({ callId: "a~2", content: "Paid 2." });
  });

  it("that is too long for an index is replaced, and the provider's id is kept", async () => {
    const longId = "a".repeat(4000);
    const { agent, model, options } = setUp([{ calls: [{ id: longId, name: "pay" }] }, { text: "Paid." }]);
    await run(agent, "Pay", options);
    expect(model.requests[1]?.history.at(-2)).toMatchObject({
      parts: [{ id: "call_1_0", providerId: longId }],
    });
  });

  it("used twice in one turn makes two calls if the arguments differ, and one otherwise (F28)", async () => {
    const { agent, options, paid } = setUp([
      {
        calls: [
          { id: "a", name: "pay", input: { amount: 1 } },
          { id: "a", name: "pay", input: { amount: 2 } },
          { id: "a", name: "pay", input: { amount: 1 } },
        ],
      },
      { text: "Paid." },
    ]);
    const { toolCalls } = await run(agent, "Pay", options);
    expect(paid).toEqual([1, 2]);
    expect(toolCalls.map(({ id }) => id)).toEqual(["a", "a~2"]);
  });

  it("used in an earlier run of the session is made unique too (F28)", async () => {
    const step: ScriptedStep = { calls: [{ id: "a", name: "pay" }] };
    const { agent, options } = setUp([step, { text: "One." }, step, { text: "Two." }]);
    await run(agent, "Pay", options);
    const { toolCalls } = await run(agent, "Pay", { ...options, runId: "r2" });
    expect(toolCalls.map(({ id }) => id)).toEqual(["a~2"]);
  });
});

describe("the name of a tool", () => {
  it("of 10,000 characters is truncated in the log, and is unknown (F30)", async () => {
    const { agent, options } = setUp([
      { calls: [{ id: "c1", name: "n".repeat(10_000) }] },
      { text: "Sorry." },
    ]);
    const { facts, result } = await collect(run(agent, "Pay", options));
    expect(result.toolCalls).toMatchObject([
      { status: "error", result: expect.stringContaining("Unknown tool") },
    ]);
    const longest = Math.max(...facts.map((fact) => JSON.stringify(fact).length));
    expect(longest).toBeLessThan(5000);
  });

  it.each(["", " ", "pay\n", "PAY"])("%j is not a tool that exists (F30)", async (name) => {
    const { agent, options, paid } = setUp([{ calls: [{ id: "c1", name }] }, { text: "Sorry." }]);
    const result = await run(agent, "Pay", options);
    expect(paid).toEqual([]);
    expect(result.toolCalls).toMatchObject([
      { status: "error", result: expect.stringContaining("Unknown tool") },
    ]);
  });
});

describe("a streamed message", () => {
  const single = (model: Model) => defineAgent({ name: "helper", model });

  it("is emitted as it arrives, with the chunks of one read merged by kind and call", async () => {
    const model = createChunkModel(
      [
        { type: "reasoning", text: "H" },
        { type: "reasoning", text: "m" },
        { type: "text", text: "Hel" },
        { type: "text", text: "lo" },
      ],
      [
        { type: "text", text: "." },
        { type: "call_start", index: 0, id: "a", name: "pay" },
        { type: "call_delta", index: 0, text: '{"am' },
        { type: "call_delta", index: 0, text: 'ount":1}' },
        { type: "call_start", index: 1, id: "b", name: "pay" },
        { type: "call_delta", index: 1, text: "{}" },
      ],
      [{ type: "finish", reason: "content_filter" }],
    );
    const { agent, options } = setUp([]);
    const { events } = await collect(
      run({ ...agent, models: { main: [model], afterTools: [model], summary: [model] } }, "Hi", options),
    );
    expect(events.flatMap((event) => ("delta" in event ? [[event.type, event.delta]] : []))).toEqual([
      ["reasoning_delta", "Hm"],
      ["content_delta", "Hello"],
      ["content_delta", "."],
      ["tool_call_delta", '{"amount":1}'],
      ["tool_call_delta", "{}"],
    ]);
  });

  it("becomes one message with the model, the duration and the usage", async () => {
    const clock = fakeClock();
    const model: Model = {
      id: "raw",
      async *stream() {
        yield [{ type: "text", text: "Hel" }];
        await clock.advance(1234);
        yield [{ type: "text", text: "lo." }];
        yield [{ type: "usage", usage: { inputTokens: 3, outputTokens: 2, cost: 0.5 } }, end];
      },
    };
    const { facts, result } = await collect(run(single(model), "Hi", { clock, store: memory() }));
    expect(facts.find((fact) => fact.type === "message")).toMatchObject({
      entry: { type: "assistant", parts: [{ type: "text", text: "Hello." }] },
      model: "raw",
      usage: { inputTokens: 3, outputTokens: 2, cost: 0.5 },
      ms: 1234,
      stopReason: "end",
    });
    expect(result.cost).toBe(0.5);
  });

  it("is dropped after a cancellation: the log ends with the end of the run (F37)", async () => {
    const late = Promise.withResolvers<void>();
    let returned = 0;
    const model: Model = {
      id: "deaf",
      async *stream() {
        try {
          yield [{ type: "text", text: "I was say" }];
          await late.promise;
          yield [{ type: "text", text: "ing that" }, end];
        } finally {
          returned += 1;
        }
      },
    };
    const store = memory();
    const heard: Event[] = [];
    const hooks = { onEvent: (event: Event) => void heard.push(event) };
    const going = run(single(model), "Hi", { session: "ses", store, hooks });
    for await (const event of going) if (event.type === "content_delta") going.cancel("Enough.");
    const result = await going;
    const before = heard.length;
    late.resolve();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(result).toMatchObject({ status: "cancelled", text: "I was say" });
    expect(heard).toHaveLength(before);
    const log = await store.read("ses");
    expect(log.map((fact) => fact.type)).toEqual([
      "run_start",
      "turn_start",
      "message",
      "warning",
      "cancel_requested",
      "turn_end",
      "done",
    ]);
    expect(log[2]).toMatchObject({
      stopReason: "aborted",
      entry: { parts: [{ type: "text", text: "I was say" }] },
    });
    expect(returned).toBe(1);
  });

  it("does not start while the instructions are built, which does not block a cancelled run", async () => {
    const begun = Promise.withResolvers<void>();
    const instructions = () => {
      begun.resolve();
      return new Promise<string>(() => undefined);
    };
    const going = run(defineAgent({ name: "helper", model: scriptedModel([]), instructions }), "Hi");
    await begun.promise;
    going.cancel();
    const tooLate = new Promise((resolve) => setTimeout(resolve, 30_000, "still going"));
    expect(await Promise.race([going.then(({ status }) => status), tooLate])).toBe("cancelled");
  });

  it("that fails for any reason becomes a named failure (F43)", async () => {
    for (const thrown of ["text", null, undefined, new TypeError("terminated")]) {
      const model: Model = {
        id: "odd",
        // biome-ignore lint/correctness/useYield: fails before the first chunk
        async *stream() {
          throw thrown;
        },
      };
      const result = await run(single(model), "Hi", {
        clock: fakeClock({ skipUpToMs: 30_000 }),
        store: memory(),
      });
      expect(result).toMatchObject({ status: "failed", error: { code: "model_failed" } });
      expect(result.text).toContain("The model could not answer");
    }
  });

  it("without text and calls is not an answer, however much reasoning it has (F20, F21)", async () => {
    const { agent, model, options } = setUp(() => ({ reasoning: "Hm", finish: "stop" }));
    expect(await run(agent, "Hi", options)).toMatchObject({
      status: "failed",
      error: { code: "empty_response" },
    });
    expect(model.requests).toHaveLength(3);
  });
});
