import { describe, expect, it } from "vitest";
import type { Chunk, ModelRequest } from "../kernel/model.ts";
import { type ScriptedStep, scriptedModel } from "./scripted-model.ts";

const request: ModelRequest = {
  instructions: "Be brief.",
  history: [{ type: "user", content: "Hi" }],
  tools: [],
  toolChoice: "none",
  thinking: false,
};

async function chunksOf(step: ScriptedStep): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  const stream = scriptedModel([step]).stream(request, { signal: new AbortController().signal });
  for await (const batch of stream) chunks.push(...batch);
  return chunks;
}

describe("scriptedModel", () => {
  it("plays one step per request, in order, and records the requests (S2-60)", async () => {
    const model = scriptedModel([{ text: "One." }, { text: "Two." }], { id: "mine" });
    const said: string[] = [];
    for (let index = 0; index < 2; index++) {
      for await (const batch of model.stream(request, { signal: new AbortController().signal }))
        for (const chunk of batch) if (chunk.type === "text") said.push(chunk.text);
    }
    expect(said).toEqual(["One.", "Two."]);
    expect(model.id).toBe("mine");
    expect(model.requests).toEqual([request, request]);
  });

  it("records the history as it was at the time of the request", async () => {
    const history = [...request.history];
    const model = scriptedModel([{ text: "One." }]);
    const stream = model.stream({ ...request, history }, { signal: new AbortController().signal });
    for await (const _batch of stream) history.push({ type: "user", content: "later" });
    expect(model.requests[0]?.history).toEqual([{ type: "user", content: "Hi" }]);
  });

  it("a function gives the step for a request and its number", async () => {
    const model = scriptedModel(({ instructions }, index) => ({ text: `${instructions} ${index}` }));
    const said: Chunk[] = [];
    for (let index = 0; index < 2; index++)
      for await (const batch of model.stream(request, { signal: new AbortController().signal }))
        said.push(...batch.filter((chunk) => chunk.type === "text"));
    expect(said).toEqual([
      { type: "text", text: "Be brief. 0" },
      { type: "text", text: "Be brief. 1" },
    ]);
  });

  it("fails for good when the script has no more steps", async () => {
    const model = scriptedModel([]);
    const reading = model
      .stream(request, { signal: new AbortController().signal })
      [Symbol.asyncIterator]()
      .next();
    await expect(reading).rejects.toMatchObject({
      message: "The script has no step 1.",
      code: "model_failed",
      retryable: false,
    });
  });

  it("says reasoning, text, calls, usage and the finish, in this order", async () => {
    const step = { text: "Look.", reasoning: "Hm.", calls: [{ id: "c1", name: "look", input: { n: 1 } }] };
    expect(await chunksOf(step)).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Look." },
      { type: "call_start", index: 0, id: "c1", name: "look" },
      { type: "call_delta", index: 0, text: '{"n":1}' },
      { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } },
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  it("splits its text into deltas, by size or at given positions", async () => {
    const texts = async (split: ScriptedStep["split"]) =>
      (await chunksOf({ text: "abcdefg", ...(split !== undefined && { split }) })).flatMap((chunk) =>
        chunk.type === "text" ? [chunk.text] : [],
      );
    expect(await texts(undefined)).toEqual(["abcdefg"]);
    expect(await texts(3)).toEqual(["abc", "def", "g"]);
    expect(await texts([1, 5])).toEqual(["a", "bcde", "fg"]);
  });

  it("can omit its usage and its finish, and send raw arguments", async () => {
    const step = { calls: [{ name: "look", arguments: '{"n":' }], usage: null, finish: "none" } as const;
    expect(await chunksOf(step)).toEqual([
      { type: "call_start", index: 0, name: "look" },
      { type: "call_delta", index: 0, text: '{"n":' },
    ]);
  });

  it("throws its error after its text", async () => {
    const said: Chunk[] = [];
    const reading = (async () => {
      const stream = scriptedModel([{ text: "Half", error: "model_timeout" }]).stream(request, {
        signal: new AbortController().signal,
      });
      for await (const batch of stream) said.push(...batch);
    })();
    await expect(reading).rejects.toMatchObject({ code: "model_timeout", retryable: true });
    expect(said).toEqual([{ type: "text", text: "Half" }]);
  });

  it("waits where the script says, and stops waiting when aborted", async () => {
    const waits: number[] = [];
    const patient = scriptedModel([{ text: "x", delayMs: 700 }], { wait: async (ms) => void waits.push(ms) });
    for await (const _batch of patient.stream(request, { signal: new AbortController().signal }));
    expect(waits).toEqual([700]);
    const controller = new AbortController();
    const reading = scriptedModel([{ text: "x", delayMs: 60_000 }])
      .stream(request, { signal: controller.signal })
      [Symbol.asyncIterator]()
      .next();
    controller.abort(new Error("stop"));
    await expect(reading).rejects.toThrow("stop");
  });
});
