import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { llama } from "../llama.ts";
import { ask } from "../testing/ask.ts";
import { createRandom, writeTinyGguf } from "../testing/tiny-gguf.ts";

let folder: string;
let bytes: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-gguf-"));
  await writeTinyGguf(join(folder, "whole.gguf"));
  bytes = await readFile(join(folder, "whole.gguf"));
});
afterAll(() => rm(folder, { recursive: true }));

const load = async (file: string, options: { contextSize?: number } = {}) => {
  const model = llama({ file: join(folder, file), gpu: false, threads: 1, contextSize: 256, ...options });
  try {
    return await ask(model, { settings: { maxOutputTokens: 1 } });
  } finally {
    await model.close();
  }
};

describe("a model file", () => {
  it("that does not exist is a named error that says how to get one", async () => {
    await expect(load("missing.gguf")).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining("capstan models get"),
    });
  });

  it.each<[string, string, (whole: Buffer) => Buffer]>([
    ["is empty", "not a GGUF file", () => Buffer.alloc(0)],
    ["is another format", "not a GGUF file", () => Buffer.from("<!doctype html>".repeat(100))],
    ["ends within the header", "ends within its header", (whole) => whole.subarray(0, 900)],
    ["ends within the last weights", "does not load", (whole) => whole.subarray(0, -5000)],
    ["ends within the weights", "truncated", (whole) => whole.subarray(0, -60_000)],
    ["has an unknown version", "version 99", (whole) => replace(whole, 4, Buffer.from([99, 0, 0, 0]))],
    ["has weights of another size", "", (whole) => replaceText(whole, "blk.0.ffn_up.weight", 4 + 19)],
    ["lacks a tensor", "", (whole) => rename(whole, "blk.0.attn_q.weight", "blk.0.attn_x.weight")],
  ])("that %s is a named error", async (name, problem, damage) => {
    const file = `${name.replace(/\W/g, "-")}.gguf`;
    await writeFile(join(folder, file), damage(bytes));
    await expect(load(file)).rejects.toMatchObject({
      code: "model_file_invalid",
      message: expect.stringContaining(problem),
    });
  });

  it("of an unknown architecture is a named error that names it", async () => {
    await writeTinyGguf(join(folder, "other.gguf"), { architecture: "abacus" });
    await expect(load("other.gguf")).rejects.toMatchObject({
      code: "model_file_invalid",
      message: expect.stringContaining("abacus"),
    });
  });

  it("whose context does not fit into memory is a named error", async () => {
    await writeTinyGguf(join(folder, "long.gguf"), { contextLength: 2 ** 27, layers: 8 });
    await expect(load("long.gguf", { contextSize: 2 ** 27 })).rejects.toMatchObject({
      code: "out_of_memory",
    });
  });

  it("with random damage to its header loads or is a named error, and never ends the process", async () => {
    const random = createRandom(7);
    const codes = new Set<string>();
    for (let round = 0; round < 15; round++) {
      const damaged = Buffer.from(bytes);
      for (let count = 0; count < 3; count++)
        damaged[Math.floor(random() * 12_000)] = Math.floor(random() * 256);
      await writeFile(join(folder, "damaged.gguf"), damaged);
      codes.add(
        await load("damaged.gguf").then(
          () => "loaded",
          (error) => error.code ?? String(error),
        ),
      );
    }
    expect([...codes].filter((code) => !["loaded", "model_file_invalid"].includes(code))).toEqual([]);
  });
});

function replace(whole: Buffer, at: number, part: Buffer): Buffer {
  const copy = Buffer.from(whole);
  part.copy(copy, at);
  return copy;
}

const rename = (whole: Buffer, from: string, to: string): Buffer =>
  replace(whole, whole.indexOf(from), Buffer.from(to));

/** Changes a dimension of a tensor: they follow its name and their number. */
function replaceText(whole: Buffer, name: string, offset: number): Buffer {
  return replace(whole, whole.indexOf(name) + offset, Buffer.from([0xff, 0x10]));
}
