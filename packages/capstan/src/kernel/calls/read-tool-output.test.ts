import { describe, expect, it } from "vitest";
import { isBinary } from "./binary.ts";
import { toOutcome } from "./outcome.ts";
import { readToolOutput } from "./read-tool-output.ts";

const plenty = { signal: new AbortController().signal, maxCharacters: 1000, maxBytes: 1000 };
const bytes = (...values: number[]) => new Uint8Array(values);
const encodeText = (text: string) => new TextEncoder().encode(text);

async function* yieldItems(...items: unknown[]): AsyncGenerator<unknown> {
  yield* items;
}

async function* yieldThenThrow(...items: unknown[]): AsyncGenerator<unknown> {
  yield* items;
  throw new Error("line cut");
}

function createStream(...chunks: unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

/** An endless source that records how it was closed. */
function createEndlessSource(item: unknown) {
  const source = {
    reads: 0,
    isClosed: false,
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      this.reads += 1;
      return { done: false, value: item };
    },
    async return() {
      this.isClosed = true;
      throw new Error("even closing fails");
    },
  };
  return source;
}

describe("tool output becomes a value once it is read to the end", () => {
  it.each([
    ["a text", "a"],
    ["nothing", undefined],
    ["null", null],
    ["an object", { a: 1 }],
    ["a list", [1]],
    ["a function", () => 1],
    ["an object that only looks like bytes", { bytes: [1], mediaType: "image/png" }],
  ])("at once, when it is %s", async (_what, value) => {
    expect(await readToolOutput(value, plenty)).toBe(value);
  });

  it("at once, when it cannot be inspected (F51)", async () => {
    const refuse = () => {
      throw new Error("no");
    };
    const shy = new Proxy({ a: 1 }, { getPrototypeOf: refuse });
    expect((await readToolOutput(shy, plenty)) === shy).toBe(true);
  });

  it.each<[what: string, source: unknown, value: unknown]>([
    ["texts of a generator are one text", yieldItems("Hello ", "world"), "Hello world"],
    ["items of a generator are a list", yieldItems({ a: 1 }, "b", undefined), [{ a: 1 }, "b", null]],
    ["a generator that gives nothing is an empty list", yieldItems(), []],
    ["texts of a stream are one text", createStream("a", "b"), "ab"],
    [
      "bytes of a stream that are text are text, also when a character is split",
      createStream(bytes(0xc3), bytes(0xa9)),
      "é",
    ],
    ["bytes among other things are named", yieldItems(bytes(1, 2), 3), ["[binary 2 bytes]", 3]],
    ["objects of a stream are a list", createStream({ a: 1 }, 2), [{ a: 1 }, 2]],
  ])("%s (F50)", async (_what, source, value) => {
    expect(await readToolOutput(source, plenty)).toEqual(value);
  });

  it.each<[what: string, source: unknown, expected: { mediaType: string; bytes: Uint8Array }]>([
    ["bytes", bytes(1, 2), { mediaType: "application/octet-stream", bytes: bytes(1, 2) }],
    ["a buffer", bytes(1, 2).buffer, { mediaType: "application/octet-stream", bytes: bytes(1, 2) }],
    [
      "a view of a part of a buffer",
      new DataView(bytes(1, 2, 3).buffer, 1),
      { mediaType: "application/octet-stream", bytes: bytes(2, 3) },
    ],
    ["a Buffer of Node", Buffer.from([1]), { mediaType: "application/octet-stream", bytes: bytes(1) }],
    [
      "a stream that is no text",
      createStream(bytes(0xff), bytes(0)),
      { mediaType: "application/octet-stream", bytes: bytes(0xff, 0) },
    ],
    [
      "a stream with a NUL",
      createStream(bytes(0x61, 0)),
      { mediaType: "application/octet-stream", bytes: bytes(0x61, 0) },
    ],
    ["a blob", new Blob([bytes(1)], { type: "image/png" }), { mediaType: "image/png", bytes: bytes(1) }],
    [
      "a file",
      new File([bytes(1)], "a.pdf", { type: "application/pdf" }),
      { mediaType: "application/pdf", bytes: bytes(1) },
    ],
    [
      "a response",
      new Response(bytes(1), { headers: { "content-type": "image/PNG" } }),
      { mediaType: "image/png", bytes: bytes(1) },
    ],
  ])("%s keeps its bytes and its type (F50)", async (_what, source, expected) => {
    const value = await readToolOutput(source, plenty);
    expect(isBinary(value)).toBe(true);
    expect(toOutcome(value)).toEqual({
      status: "ok",
      content: `[${expected.mediaType}, ${expected.bytes.length} bytes]`,
      binary: expected,
    });
  });

  it.each<[what: string, source: unknown, value: unknown]>([
    ["a text", new Response("hi", { headers: { "content-type": "text/html; charset=utf-8" } }), "hi"],
    [
      "a text in its own charset",
      new Response(bytes(0xe9), { headers: { "content-type": 'text/plain; charset="latin1"' } }),
      "é",
    ],
    [
      "a text in a charset that nobody knows",
      new Response("é", { headers: { "content-type": "text/plain; charset=none" } }),
      "é",
    ],
    ["JSON, as data", Response.json({ error: "is only data" }), { data: { error: "is only data" } }],
    [
      "JSON of a type of its own",
      new Response("[1]", { headers: { "content-type": "application/problem+json" } }),
      { data: [1] },
    ],
    [
      "JSON that is none, as text",
      new Response("{", { headers: { "content-type": "application/json" } }),
      "{",
    ],
    ["nothing", new Response(null, { headers: { "content-type": "text/plain" } }), ""],
    ["a blob of text", new Blob(["hi"], { type: "text/csv" }), "hi"],
    ["a blob of JSON", new Blob(["{}"], { type: "application/json" }), { data: {} }],
  ])("a response or blob can be %s (F50)", async (_what, source, value) => {
    expect(await readToolOutput(source, plenty)).toEqual(value);
  });

  it.each([
    [404, "Not Found", false],
    [429, "", true],
    [503, "", true],
  ])("a response with status %i is a failure that says so (F50)", async (status, statusText, retryable) => {
    const response = Response.json({ reason: "it is so" }, { status, statusText });
    expect(toOutcome(await readToolOutput(response, plenty))).toMatchObject({
      status: "error",
      error: { message: expect.stringMatching(new RegExp(`^HTTP ${status}.*it is so`)), retryable },
    });
  });
});

describe("endless output is read up to the limit and then closed", () => {
  it.each<[what: string, item: unknown, value: unknown]>([
    ["texts", "ab", `${"ab".repeat(23)}\n… (only the first 46 characters were read)`],
    ["empty texts", "", "\n… (only the first 0 characters were read)"],
    ["items", [1], [[1], [1], [1], [1], [1], "… only the first 5 items were read"]],
    ["nothing at all", undefined, [...new Array(9).fill(null), "… only the first 9 items were read"]],
    ["bytes", encodeText("abc"), "abcabcabcabcabcabcab\n… (only the first 20 characters were read)"],
  ])("%s (F47, F50)", async (_what, item, value) => {
    const source = createEndlessSource(item);
    const read = await readToolOutput(source, { ...plenty, maxCharacters: 46, maxBytes: 20 });
    expect(read).toEqual(value);
    expect(source.reads).toBeLessThanOrEqual(48);
    await Promise.resolve();
    expect(source.isClosed).toBe(true);
  });

  it("a single item that is too large is truncated (F47)", async () => {
    const source = createEndlessSource({ text: "x".repeat(1000) });
    const value = await readToolOutput(source, { ...plenty, maxCharacters: 300 });
    expect(value).toEqual([
      { text: expect.stringMatching(/^x+… \(\d+ more characters\)$/) },
      "… only the first 1 items were read",
    ]);
    expect(toOutcome(value)).toMatchObject({ status: "ok", isPartial: true });
  });

  it("a stream is cancelled (F50)", async () => {
    let cancelled = false;
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(bytes(0xff, 0xff)),
      cancel: () => {
        cancelled = true;
      },
    });
    const value = await readToolOutput(stream, { ...plenty, maxBytes: 5 });
    expect(toOutcome(value)).toMatchObject({
      content: "[application/octet-stream, 5 bytes, and more that were not read]",
      binary: { bytes: bytes(0xff, 0xff, 0xff, 0xff, 0xff) },
    });
    await Promise.resolve();
    expect(cancelled).toBe(true);
  });

  it("a text is not cut inside a character, and truncated JSON is not parsed (F50)", async () => {
    const json = new Response('{"a":"é"}', { headers: { "content-type": "application/json" } });
    expect(await readToolOutput(json, { ...plenty, maxBytes: 7 })).toBe(
      '{"a":"\n… (only the first 6 characters were read)',
    );
    const stream = createStream(encodeText("aé"));
    expect(await readToolOutput(stream, { ...plenty, maxBytes: 2 })).toBe(
      "a\n… (only the first 1 characters were read)",
    );
  });

  it.each([
    ["bytes", () => bytes(1, 2, 3)],
    ["a blob", () => new Blob([bytes(1, 2, 3)])],
  ])("%s beyond the limit are truncated, and `isCut` is set (F50)", async (_what, make) => {
    expect(await readToolOutput(make(), { ...plenty, maxBytes: 2 })).toMatchObject({
      bytes: bytes(1, 2),
      isCut: true,
    });
  });
});

describe("output that fails midway is a failure with the part that was read", () => {
  it("as a list (F53)", async () => {
    const outcome = toOutcome(await readToolOutput(yieldThenThrow({ a: 1 }, { a: 2 }), plenty));
    const message = "The output ended after 2 items: line cut";
    expect(outcome).toEqual({
      status: "error",
      content: JSON.stringify({ partial: [{ a: 1 }, { a: 2 }], error: message }),
      data: [{ a: 1 }, { a: 2 }],
      error: { code: "tool_failed", message, retryable: true },
    });
  });

  it("as a text (F53)", async () => {
    expect(toOutcome(await readToolOutput(yieldThenThrow("Once upon ", "a time"), plenty))).toEqual({
      status: "error",
      content: "Once upon a time\n… (The output ended early: line cut)",
      error: { code: "tool_failed", message: "The output ended early: line cut", retryable: true },
    });
  });

  it("as the body of a response (F53)", async () => {
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(encodeText("half"));
        else controller.error(new Error("reset"));
      },
    });
    const response = new Response(body, { headers: { "content-type": "text/plain" } });
    expect(toOutcome(await readToolOutput(response, plenty))).toMatchObject({
      status: "error",
      content: "half\n… (The output ended early: reset)",
    });
  });

  it("and keeps the error's code and whether it can be retried", async () => {
    async function* denied() {
      yield 1;
      throw Object.assign(new Error("no"), { code: "EACCES", retryable: false });
    }
    expect(toOutcome(await readToolOutput(denied(), plenty)).error).toMatchObject({
      code: "EACCES",
      retryable: false,
    });
  });

  it("but rejects with the error when nothing was read (F53)", async () => {
    await expect(readToolOutput(yieldThenThrow(), plenty)).rejects.toThrow("line cut");
    await expect(readToolOutput({ [Symbol.asyncIterator]: () => undefined }, plenty)).rejects.toThrow(
      TypeError,
    );
    const used = new Response("a");
    await used.text();
    await expect(readToolOutput(used, plenty)).rejects.toThrow(TypeError);
  });
});

describe("an abort", () => {
  it.each([
    [
      "a source that gives nothing more",
      () => ({ ...createEndlessSource(1), next: () => new Promise(() => undefined) }),
    ],
    ["a response whose body does not come", () => new Response(new ReadableStream())],
  ])("ends the wait for %s (F40)", async (_what, make) => {
    const controller = new AbortController();
    const waiting = readToolOutput(make(), { ...plenty, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("closes the source and is not mistaken for a failed source", async () => {
    const controller = new AbortController();
    const source = createEndlessSource(1);
    const next = source.next.bind(source);
    source.next = async () => {
      if (source.reads === 3) controller.abort(new Error("enough"));
      return next();
    };
    await expect(readToolOutput(source, { ...plenty, signal: controller.signal })).rejects.toThrow("enough");
    expect(source.isClosed).toBe(true);
  });
});
