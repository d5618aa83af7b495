import { once } from "node:events";
import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "./testing/ask.ts";
import { closingTokens, createTinyModel, endless, type TinyModel } from "./testing/tiny-model.ts";

let tiny: TinyModel;
beforeAll(async () => {
  tiny = await createTinyModel();
});
afterAll(() => tiny.remove());

const tool = (name: string) => ({
  name,
  description: `Does ${name}`,
  input: { type: "object", properties: { n: { type: "integer", minimum: 1, maximum: 5 } }, required: ["n"] },
});
const tools = [tool("left"), tool("right")];
const quiet = { effort: "none", temperature: 1 } as const;

describe("a local model", () => {
  it("streams text one token at a time, with its usage", async () => {
    const { text, chunks, usage, finish } = await ask(tiny.model, { settings: { ...quiet, seed: 2 } });
    expect(text).not.toBe("");
    expect(chunks.filter(({ type }) => type === "text").length).toBeGreaterThan(3);
    expect(finish).toBe("end");
    expect(usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
    expect(usage?.inputTokens).toBeGreaterThan(10);
  });

  it("repeats an answer with the same seed, and at temperature 0", async () => {
    const answer = async (settings: object) =>
      (await ask(tiny.model, { settings: { ...quiet, maxOutputTokens: 12, ...settings } })).text;
    expect(await answer({ seed: 5 })).toBe(await answer({ seed: 5 }));
    expect(await answer({ seed: 5 })).not.toBe(await answer({ seed: 6 }));
    expect(await answer({ temperature: 0, seed: 1 })).toBe(await answer({ temperature: 0, seed: 2 }));
  });

  it("stops at the output limit", async () => {
    const { finish, usage } = await ask(tiny.model, { settings: { ...quiet, seed: 1, maxOutputTokens: 3 } });
    expect([finish, usage?.outputTokens]).toEqual(["length", 3]);
    const raised = await ask(tiny.model, { settings: { maxOutputTokens: 3, seed: 1 }, maxOutputTokens: 4 });
    expect(raised.usage?.outputTokens).toBe(4);
  });

  it("stops before a stop text", async () => {
    const settings = { ...quiet, seed: 2 };
    const { text } = await ask(tiny.model, { settings });
    const stop = text.slice(8, 10);
    const stopped = await ask(tiny.model, { settings: { ...settings, stop: ["no such text", stop] } });
    expect([stopped.text, stopped.finish]).toEqual([text.slice(0, text.indexOf(stop)), "end"]);
  });

  it("calls tools as the choice says: required, by name, none, several or one", async () => {
    const settings = { ...quiet, seed: 3 };
    const required = await ask(tiny.model, { tools, toolChoice: "required", settings });
    expect(required.calls.length).toBeGreaterThan(0);
    expect(required.finish).toBe("tool_calls");
    for (let seed = 0; seed < 4; seed++) {
      const one = { ...quiet, seed, parallelToolCalls: false };
      const { calls } = await ask(tiny.model, { tools, toolChoice: "required", settings: one });
      expect(calls).toHaveLength(1);
      const named = await ask(tiny.model, {
        tools,
        toolChoice: { tool: "right" },
        settings: { ...quiet, seed },
      });
      expect(named.calls.map(({ name }) => name)).toEqual(["right"]);
      const none = await ask(tiny.model, { tools, toolChoice: "none", settings: { ...quiet, seed } });
      expect([none.calls, none.finish]).toEqual([[], "end"]);
    }
  });

  it("makes no call that is not valid when it may choose between text and calls", async () => {
    const eager = await createTinyModel({ preferred: { ...closingTokens, "<tool_call>": 3 } });
    const names: string[] = [];
    for (let seed = 0; seed < 10; seed++) {
      const { calls: all, finish } = await ask(eager.model, {
        tools,
        settings: { ...quiet, seed, maxOutputTokens: 80 },
      });
      const calls = finish === "length" ? all.slice(0, -1) : all;
      for (const { name, text } of calls) {
        names.push(name);
        expect([1, 2, 3, 4, 5]).toContain((JSON.parse(text) as { n: number }).n);
      }
    }
    await eager.remove();
    expect(new Set(names)).toEqual(new Set(["left", "right"]));
  });

  it("reasons when told to, within its budget, and not with effort none", async () => {
    const thoughtful = await ask(tiny.model, { settings: { effort: 20, seed: 1, temperature: 1 } });
    expect(thoughtful.reasoning).not.toBe("");
    expect(thoughtful.text).not.toBe("");
    expect(thoughtful.usage?.reasoningTokens).toBeGreaterThan(0);
    expect(thoughtful.usage?.reasoningTokens).toBeLessThanOrEqual(20);
    const call = await ask(tiny.model, {
      tools,
      toolChoice: "required",
      settings: { effort: 5, seed: 1, temperature: 1 },
    });
    expect(call.reasoning).not.toBe("");
    expect(call.calls.length).toBeGreaterThan(0);
    const plain = await ask(tiny.model, { settings: { ...quiet, seed: 1 } });
    expect([plain.reasoning, plain.usage?.reasoningTokens]).toEqual(["", undefined]);
  });

  it("reports the probabilities of tokens", async () => {
    const settings = { ...quiet, seed: 1, maxOutputTokens: 4, logprobs: 2 };
    const { chunks } = await ask(tiny.model, { settings });
    const logprobs = chunks.flatMap((chunk) => (chunk.type === "logprobs" ? chunk.tokens : []));
    expect(logprobs).toHaveLength(4);
    for (const { logprob, top } of logprobs) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top).toHaveLength(2);
    }
  });

  it("evaluates only the new part of a conversation", async () => {
    const settings = { ...quiet, seed: 4, maxOutputTokens: 8 };
    const question = { type: "user", content: "A conversation of some length that is continued." } as const;
    const first = await ask(tiny.model, { history: [question], settings });
    const history = [
      question,
      { type: "assistant", parts: [{ type: "text", text: first.text }] },
      { type: "user", content: "Go on" },
    ] as const;
    const second = await ask(tiny.model, { history, settings });
    expect(second.usage?.cachedTokens).toBeGreaterThan((first.usage?.inputTokens ?? 0) / 2);
    const uncached = await ask(tiny.model, { history, settings: { ...settings, cache: "off" } });
    expect(uncached.usage?.cachedTokens).toBeUndefined();
    expect(uncached.text).toBe(second.text);
  });

  it("answers several requests at once on one loaded model, and gives each its own answer", async () => {
    const request = (seed: number) => ({ settings: { ...quiet, seed, maxOutputTokens: 20 } });
    const alone = [];
    for (let seed = 0; seed < 6; seed++) alone.push((await ask(tiny.model, request(seed))).text);
    const together = await Promise.all(alone.map((_, seed) => ask(tiny.model, request(seed))));
    expect(together.map(({ text }) => text)).toEqual(alone);
  });

  it("refuses a request that is longer than its context", async () => {
    const history = [{ type: "user", content: "word ".repeat(3000) }] as const;
    await expect(ask(tiny.model, { history })).rejects.toMatchObject({ code: "context_overflow" });
  });

  it("writes nothing to standard output or standard error", async () => {
    const written: unknown[] = [];
    const [stdout, stderr] = [process.stdout.write, process.stderr.write];
    process.stdout.write = process.stderr.write = ((text: unknown) => written.push(text)) as never;
    const noisy = await createTinyModel();
    await ask(noisy.model, { settings: { ...quiet, seed: 2 } });
    await noisy.remove();
    [process.stdout.write, process.stderr.write] = [stdout, stderr];
    expect(written).toEqual([]);
  });

  it("runs an agent with a tool to its end (S0-45)", async () => {
    const inputs: unknown[] = [];
    const roll = defineTool({
      name: "roll",
      description: "Rolls dice",
      input: {
        type: "object",
        properties: { dice: { type: "integer", minimum: 1, maximum: 6 } },
        required: ["dice"],
      } as const,
      effects: "none",
      execute: (input) => {
        inputs.push(input);
        return `${input.dice} dice`;
      },
    });
    const agent = defineAgent({
      name: "player",
      model: tiny.model,
      instructions: "Play.",
      tools: [roll],
      settings: ({ turn }) => ({ ...quiet, seed: 9, toolChoice: turn === 1 ? "required" : "none" }),
    });
    const result = await run(agent, "Roll.", { store: memory() });
    expect(result.status).toBe("done");
    expect(result.text).not.toBe("");
    expect(inputs.length).toBeGreaterThan(0);
    for (const input of inputs) expect(input).toMatchObject({ dice: expect.any(Number) });
    expect(result.usage.inputTokens).toBeGreaterThan(0);
  });

  it("gives structured output that is valid", async () => {
    const output = {
      type: "object",
      properties: { city: { enum: ["Oslo", "Rome"] }, days: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["city", "days"],
    } as const;
    const agent = defineAgent({ name: "a", model: tiny.model, output, settings: { ...quiet, seed: 3 } });
    const result = await run(agent, "Where?");
    expect(result).toMatchObject({
      status: "done",
      output: { city: expect.stringMatching(/^(Oslo|Rome)$/) },
    });
  });
});

describe("closing a local model", () => {
  it("cancels running and waiting requests; a later request loads the file again", async () => {
    const { model, remove } = await createTinyModel({ preferred: endless }, { parallel: 1 });
    const controller = new AbortController();
    const streaming = once(controller.signal, "abort");
    const consume = async () => {
      for await (const _ of model.stream(
        {
          instructions: "",
          history: [{ type: "user", content: "x" }],
          tools: [],
          toolChoice: "auto",
          thinking: false,
        },
        { signal: new AbortController().signal },
      ))
        controller.abort();
    };
    const requests = Promise.allSettled([consume(), ask(model), ask(model)]);
    await streaming;
    await model.close();
    expect((await requests).map((one) => one.status === "rejected" && one.reason.code)).toEqual([
      "aborted",
      "aborted",
      "aborted",
    ]);
    expect((await ask(model, { settings: { maxOutputTokens: 2 } })).finish).toBe("length");
    await remove();
  });

  it("returns its memory", async () => {
    const contextLength = 2 ** 18; // the context has 400 MB
    const { model, remove } = await createTinyModel(
      { contextLength, layers: 12 },
      { contextSize: contextLength, parallel: 1 },
    );
    const remaining: number[] = [];
    for (let round = 0; round < 2; round++) {
      await ask(model, { settings: { maxOutputTokens: 1 } });
      const loaded = process.memoryUsage.rss();
      await model.close();
      remaining.push(process.memoryUsage.rss());
      expect(loaded - (remaining.at(-1) ?? 0)).toBeGreaterThan(200e6);
    }
    const [first = 0, second = 0] = remaining;
    expect(second - first).toBeLessThan(200e6);
    await remove();
  });
});
