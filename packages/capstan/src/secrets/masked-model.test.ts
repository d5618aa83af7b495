import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Chunk, Model, ModelRequest } from "../kernel/model.ts";
import { createMask, type SecretMask } from "./mask.ts";
import { withMaskedModel } from "./masked-model.ts";

const secret = "tok-en-12345";
const masking = createMask([secret]) as SecretMask;
const request: ModelRequest = {
  ...{ instructions: "Be brief.", history: [], tools: [], toolChoice: "auto", thinking: false },
};

async function asked(batches: readonly (readonly Chunk[])[], given: Partial<ModelRequest> = {}) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    id: "m",
    async *stream(one) {
      requests.push(one);
      yield* batches;
    },
  };
  const chunks: Chunk[] = [];
  const { signal } = new AbortController();
  for await (const batch of withMaskedModel(model, masking).stream({ ...request, ...given }, { signal }))
    chunks.push(...batch);
  return { chunks, request: requests[0] };
}

const start: Chunk = { type: "call_start", index: 0, id: "c", name: "t" };
const piece = (text: string, index = 0): Chunk => ({ type: "call_delta", index, text });
const finish: Chunk = { type: "finish", reason: "tool_calls" };

describe("a model with masked requests", () => {
  it("receives masked instructions and tools, the same tool objects every time (A110)", async () => {
    const tool = { name: "t", description: `Uses ${secret}`, input: { default: secret } };
    const [first, second] = [await asked([], { tools: [tool] }), await asked([], { tools: [tool] })];
    expect(first.request?.tools).toEqual([{ name: "t", description: "Uses ***", input: { default: "***" } }]);
    expect(second.request?.tools[0]).toBe(first.request?.tools[0]);
    const { request } = await asked([], { instructions: `The key is ${secret}.` });
    expect(request?.instructions).toBe("The key is ***.");
  });

  it("receives the same request if it contains no secret", async () => {
    const given: ModelRequest = { ...request, tools: [{ name: "t", description: "", input: {} }] };
    expect((await asked([], given)).request?.tools).toBe(given.tools);
  });

  it("has no secret in a call, however it is split, and flushes the rest before the finish (A111)", async () => {
    const text = JSON.stringify({ key: secret, rest: "tok" });
    const cuts = fc.array(fc.nat(text.length), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const borders = [0, ...places.sort((left, right) => left - right), text.length];
        const pieces = borders.slice(1).map((end, index) => piece(text.slice(borders[index], end)));
        const { chunks } = await asked([[start], ...pieces.map((one) => [one]), [finish]]);
        expect([chunks[0], chunks.at(-1)]).toEqual([start, finish]);
        const said = chunks.map((chunk) => (chunk.type === "call_delta" ? chunk.text : "")).join("");
        expect(JSON.parse(said)).toEqual({ key: "***", rest: "tok" });
      }),
    );
  });

  it("flushes held-back text of each call before the finish (A111)", async () => {
    const { chunks } = await asked([[start, piece("tok-"), piece("tok", 1)], [finish]]);
    expect(chunks).toEqual([start, piece("tok-"), piece("tok", 1), finish]);
  });

  it("starts over after a restart (A111)", async () => {
    const restart: Chunk = { type: "restart", reason: "other model" };
    const { chunks } = await asked([[start, piece("tok-en"), restart, start, piece("-12345"), finish]]);
    expect(chunks).toEqual([start, restart, start, piece("-12345"), finish]);
  });

  it("masks ids and names, but not the name of an offered tool (A110)", async () => {
    const call = (name: string): Chunk => ({ type: "call_start", index: 0, id: `c-${secret}`, name });
    const tools = [{ name: secret, description: "", input: {} }];
    const { chunks } = await asked([[call(`no-${secret}`), call(secret)]], { tools });
    expect(chunks).toEqual([
      { type: "call_start", index: 0, id: "c-***", name: "no-***" },
      { type: "call_start", index: 0, id: "c-***", name: secret },
    ]);
  });

  it("passes text through: it is masked when it is emitted", async () => {
    const batch: readonly Chunk[] = [{ type: "text", text: secret }];
    expect((await asked([batch])).chunks).toEqual(batch);
  });
});
