import { describe, expect, it } from "vitest";
import { createParserWorker, type ParseOptions, parseInWorker } from "./parse-in-worker.ts";

const module = new URL("testing/hostile-parser.ts", import.meta.url);
const parse = (input: string, options?: ParseOptions) => parseInWorker(module, input, options);

describe("parseInWorker", () => {
  it("returns a copy of the result, and swallows what the parser prints", async () => {
    expect(await parse("print")).toEqual({ input: "print", map: new Map([["key", new Uint8Array([1])]]) });
  });

  it("keeps the environment of the process, which has keys, from the parser", async () => {
    expect(await parse("environment")).toEqual([]);
  });

  it.each([
    ["loop", { timeoutMs: 1000 }, "Reading it takes longer than 1 s."],
    ["heap", { memoryMb: 16 }, "Reading it takes more than 16 MB of memory."],
    ["buffers", { memoryMb: 64 }, "Reading it takes more than 64 MB of memory."],
  ])("ends a parser that would %s forever", async (input, limits, message) => {
    await expect(parse(input, { limits })).rejects.toMatchObject({ code: "file_limit", message });
  });

  it.each([
    ["throw", "Unexpected end of file."],
    ["recurse", "It is nested too deeply."],
    ["exit", "The parser ended without a result."],
  ])("names a parser that fails: %s", async (input, message) => {
    await expect(parse(input)).rejects.toMatchObject({ code: "file_invalid", message });
  });

  it("names a parser that does not exist", async () => {
    await expect(parseInWorker(new URL("missing.ts", module), "")).rejects.toMatchObject({
      code: "file_invalid",
      message: expect.stringContaining("missing.ts"),
    });
  });

  it("ends the worker when it is aborted", async () => {
    const controller = new AbortController();
    const parsing = parse("loop", { signal: controller.signal });
    controller.abort();
    await expect(parsing).rejects.toMatchObject({ name: "AbortError" });
    await expect(parse("wait", { signal: controller.signal })).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("a parser worker", () => {
  it("parses one file after the other, and goes on after a parser that failed or did not end", async () => {
    const worker = createParserWorker({ memoryMb: 16 });
    const count = (input = "count") => worker.parse<{ readonly calls: number }>(module, input);
    expect([await count(), await count()]).toMatchObject([{ calls: 1 }, { calls: 2 }]);
    await expect(count("throw")).rejects.toMatchObject({ code: "file_invalid" });
    expect(await count()).toMatchObject({ calls: 4 });
    for (const input of ["heap", "exit"]) {
      await expect(count(input)).rejects.toThrow();
      expect(await count()).toMatchObject({ calls: 1 });
    }
    await worker.close();
  });
});
