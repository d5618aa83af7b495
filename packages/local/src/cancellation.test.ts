import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelRequest } from "capstan";
import type { LlamaContextSequence } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { streamAnswer } from "./answer.ts";
import { type LoadedModel, loadModel } from "./engine/load-model.ts";
import { writeTinyGguf } from "./testing/tiny-gguf.ts";
import { endless } from "./testing/tiny-model.ts";

let folder: string;
let loaded: LoadedModel;
let sequence: LlamaContextSequence;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-gguf-"));
  const file = join(folder, "tiny.gguf");
  await writeTinyGguf(file, { preferred: endless, contextLength: 16_384, layers: 4 });
  const model = await loadModel({ file, gpu: false, threads: 1, contextSize: 16_384, parallel: 1 });
  const acquire: typeof model.pool.acquire = async (...request) => {
    sequence = await model.pool.acquire(...request);
    return sequence;
  };
  loaded = { ...model, pool: { ...model.pool, acquire } };
});
afterAll(async () => {
  await loaded.dispose();
  await rm(folder, { recursive: true });
});

const ask = (content: string, signal: AbortSignal) => {
  const history = [{ type: "user", content }] as const;
  const request: ModelRequest = { instructions: "", history, tools: [], toolChoice: "auto", thinking: false };
  return streamAnswer(loaded, { request, settings: { effort: "none" }, signal });
};
/** The only sequence is free again when the tokens that were being evaluated are done. */
const waitUntilFree = async () =>
  loaded.pool.release(await loaded.pool.acquire([], new AbortController().signal));
const countTokens = () => sequence.tokenMeter.usedInputTokens + sequence.tokenMeter.usedOutputTokens;

describe("cancelling a request", () => {
  it("ends the answer at once, and at most one more token is evaluated", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    let [received, evaluated] = [0, 0];
    const consume = async () => {
      for await (const _ of ask("Hello", controller.signal))
        if (++received === 20) {
          evaluated = countTokens();
          controller.abort(reason);
        }
    };
    await expect(consume()).rejects.toBe(reason);
    expect(received).toBe(20);
    await waitUntilFree();
    expect(evaluated).toBeGreaterThan(20);
    expect(countTokens() - evaluated).toBeLessThanOrEqual(1);
  });

  it("does not wait for a long prompt, and evaluates no more than the batch that has started", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const words = "quick brown fox ".repeat(2500);
    const { batchSize } = sequence.context;
    const before = countTokens();
    const answer = ask(words, controller.signal).next();
    await expect.poll(() => countTokens() - before).toBeGreaterThan(0);
    const evaluated = countTokens();
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await waitUntilFree();
    const tokens = loaded.model.tokenize(words).length;
    expect(tokens).toBeGreaterThan(8 * batchSize);
    expect(countTokens() - evaluated).toBeLessThanOrEqual(batchSize);
  });

  it("stops waiting for a free sequence", async () => {
    const running = ask("First", new AbortController().signal);
    await running.next();
    const controller = new AbortController();
    const waiting = ask("Second", controller.signal).next();
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
    await running.return();
  });
});
