import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toErrorData } from "../../base/errors.ts";
import type { Outcome } from "../tool.ts";
import { createFailedOutcome, filterForModel, interrupted, toOutcome } from "./outcome.ts";

describe("any returned value becomes an outcome", () => {
  it.each<[what: string, returned: unknown, content: string]>([
    ["a text", "12 degrees", "12 degrees"],
    ["an empty text", "", ""],
    ["a text with half a surrogate pair", "a\ud800", "a\ufffd"],
    ["nothing", undefined, ""],
    ["nothing in fields of ours", { data: undefined }, ""],
    ["a message", { message: "Done." }, "Done."],
  ])("%s, which is its content (S0-38, S1-15, S4-34)", (_what, returned, content) => {
    expect(toOutcome(returned)).toEqual({ status: "ok", content });
  });

  it.each<[what: string, returned: unknown, content: string]>([
    ["a number", 42, "42"],
    ["zero", 0, "0"],
    ["a boolean", false, "false"],
    ["null", null, "null"],
    ["a list", [1, { a: 2 }], '[1,{"a":2}]'],
    ["an object", { city: "Oslo", degrees: 12 }, '{"city":"Oslo","degrees":12}'],
    ["an object that has fields of ours among others", { data: 1, total: 2 }, '{"data":1,"total":2}'],
    ["an empty object", {}, "{}"],
  ])("%s, which is its data, and its JSON the content (S0-30, D-12)", (_what, returned, content) => {
    expect(toOutcome(returned)).toEqual({ status: "ok", content, data: returned });
  });

  it.each<[what: string, returned: unknown, data: unknown]>([
    ["a map", new Map([["content", "a"]]), { content: "a" }],
    ["a bigint", 5n, "5"],
    ["a symbol", Symbol("x"), "[Symbol x]"],
    ["an error", new Error("no"), { name: "Error", message: "no" }],
    ["bytes that nobody gathered", new Uint8Array(2), "[binary 2 bytes]"],
  ])("%s, in the form that JSON has for it (F49)", (_what, returned, data) => {
    expect(toOutcome(returned)).toEqual({ status: "ok", content: JSON.stringify(data), data });
  });

  it("any value, without throwing, as something that can be stored (F48, F49, F51)", () => {
    const keys = fc.constantFrom("content", "data", "message", "ui", "error", "status", "success", "result");
    const values = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    fc.assert(
      fc.property(fc.oneof(values, fc.dictionary(keys, values)), (returned) => {
        const outcome = toOutcome(returned);
        expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
      }),
    );
  });

  it.each([
    ["a proxy that throws", new Proxy({}, { ownKeys: () => fail() }), "[Threw: no]"],
    [
      "a getter that throws",
      Object.defineProperty({}, "content", { enumerable: true, get: fail }),
      { content: "[Threw: no]" },
    ],
    [
      "an error that throws",
      { error: new Proxy({}, { get: fail, getPrototypeOf: fail }) },
      { error: "[Threw: no]" },
    ],
  ])("%s, with that said (F51)", (_what, returned, data) => {
    expect(toOutcome(returned)).toMatchObject({ status: "ok", data });
  });

  it("data that contains itself (F48)", () => {
    const data: Record<string, unknown> = { a: 1 };
    data.self = data;
    expect(toOutcome({ content: "Found.", data })).toEqual({
      status: "ok",
      content: "Found.",
      data: { a: 1, self: "[Circular]" },
    });
  });

  it("a huge text, in full: it is truncated for the model later (F47)", () => {
    const text = "x".repeat(5_000_000);
    expect(toOutcome({ content: text }).content).toBe(text);
  });

  it("content for the model, with a message and other fields besides it", () => {
    const returned = {
      content: "Two hits.",
      data: { hits: 2 },
      ui: { kind: "list", props: { rows: 2 } },
      contexts: [{ id: "d1", content: "…", source: { title: "Page" } }],
      affected: ["index"],
    };
    expect(toOutcome(returned)).toEqual({ status: "ok", ...returned });
  });

  it("content in parts", () => {
    const content = [
      { type: "text", text: "The chart:" },
      { type: "image", mediaType: "image/png", data: "aGk=" },
      { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf" },
    ];
    expect(toOutcome({ content })).toEqual({ status: "ok", content });
  });

  it("data without content, which is then the content", () => {
    expect(toOutcome({ data: { hits: 2 } })).toEqual({
      status: "ok",
      content: '{"hits":2}',
      data: { hits: 2 },
    });
  });

  it("data and a message, both for the model", () => {
    expect(toOutcome({ message: "Found.", data: [1] })).toEqual({
      status: "ok",
      content: '{"message":"Found.","data":[1]}',
      message: "Found.",
      data: [1],
    });
  });

  it("data as JSON, so that storing does not change it", () => {
    const at = new Date(Date.UTC(2026, 0, 1));
    expect(toOutcome({ content: "", data: { at, none: undefined } }).data).toEqual({
      at: "2026-01-01T00:00:00.000Z",
    });
  });
});

function fail(): never {
  throw new Error("no");
}

describe("a failure has the same shape as a success", () => {
  it("from a text (S0-38, S4-36)", () => {
    expect(toOutcome({ error: "no such city" })).toEqual({
      status: "error",
      content: "Tool execution failed: no such city",
      error: { code: "tool_failed", message: "no such city", retryable: true },
    });
  });

  it("with the tool's own code (S3-25)", () => {
    expect(toOutcome({ error: { code: "EXECUTION_FAILED", message: "disk full" } })).toEqual({
      status: "error",
      content: "Tool execution failed: disk full",
      error: { code: "EXECUTION_FAILED", message: "disk full", retryable: true },
    });
  });

  it("from an Error, with its code (F43)", () => {
    const error = Object.assign(new Error("no file"), { code: "ENOENT" });
    expect(toOutcome({ error }).error).toEqual({ code: "ENOENT", message: "no file", retryable: true });
  });

  it("with its own content for the model, if there is any", () => {
    expect(toOutcome({ error: "busy", content: "Try the other one." })).toMatchObject({
      status: "error",
      content: "Try the other one.",
      error: { message: "busy" },
    });
  });

  it("but `error: null` is not a failure", () => {
    expect(toOutcome({ data: 1, error: null })).toEqual({ status: "ok", content: "1", data: 1 });
  });

  it.each([
    ["its own word", { error: "gone", retryable: false }, false],
    ["its code, when it is one of ours", { error: { code: "security", message: "no" } }, false],
    ["its own word before its code", { error: { code: "security", message: "no" }, retryable: true }, true],
    ["neither", { error: "busy" }, true],
    ["a code that is a name of Object.prototype", { error: { code: "toString", message: "no" } }, true],
  ])("retryable by %s (S4-16)", (_what, returned, retryable) => {
    expect(toOutcome(returned).error?.retryable).toBe(retryable);
  });

  it("with the data, the hint and the fragments that came with it", () => {
    const rest = { data: { tried: 3 }, ui: { kind: "alert", props: {} }, affected: ["a"] };
    expect(toOutcome({ error: "half done", ...rest })).toMatchObject({ status: "error", ...rest });
  });

  it("with our own messages unchanged, and others prefixed as a failure", () => {
    expect(createFailedOutcome(toErrorData("bad_arguments", "Bad arguments for x.")).content).toBe(
      "Bad arguments for x.",
    );
    expect(createFailedOutcome({ code: "ENOENT", message: "no file", retryable: true }).content).toBe(
      "Tool execution failed: no file",
    );
  });

  it("with a message truncated at 4,096 characters (F44)", () => {
    const { error, content } = toOutcome({ error: "x".repeat(5_000_000) });
    expect(error?.message.length).toBeLessThan(4200);
    expect(content.length).toBeLessThan(4300);
  });
});

it("a call that does not match its approval is denied, not failed (A109)", () => {
  expect(createFailedOutcome(toErrorData("approval_mismatch", "Not what was approved.")).status).toBe(
    "denied",
  );
});

it("an interrupted call says that it may or may not have taken effect", () => {
  expect(interrupted).toMatchObject({
    status: "interrupted",
    content: expect.stringContaining("may or may not have taken effect"),
    error: { code: "tool_interrupted", retryable: false },
  });
});

describe("the view of the model", () => {
  const command = toOutcome({ success: true, message: "Returned 3 samples", data: { nodes: [1, 2, 3] } });
  const found = toOutcome({
    content: "Two hits.\nThe first is best.",
    data: [1, 2],
    ui: { kind: "list", props: 2 },
  });
  const bare = toOutcome({ city: "Oslo" });
  const long = toOutcome("x".repeat(300));
  const broken = toOutcome({ error: "no", data: { secret: 1 } });

  it("is the full outcome by default (S2-28, S2-51)", () => {
    for (const outcome of [command, found, bare, long, broken]) {
      expect(filterForModel(outcome, { includeData: true })).toBe(outcome);
    }
  });

  it.each<[what: string, outcome: Outcome, content: string]>([
    ["the message of a command", command, "Returned 3 samples"],
    ["the message beside the data", toOutcome({ message: "Found.", data: [1] }), "Found."],
    ["the content that the tool gave for it", found, "Two hits.\nThe first is best."],
    [
      "that there is data, when there are no words",
      bare,
      "The call succeeded. Its data is not shown to you.",
    ],
    [
      "that there is data, when that is a text",
      toOutcome({ data: "a" }),
      "The call succeeded. Its data is not shown to you.",
    ],
    ["what failed", broken, "Tool execution failed: no"],
    ["a text, which is no data", toOutcome("12 degrees"), "12 degrees"],
    ["words that begin like JSON", toOutcome({ content: "{curly} words", data: 1 }), "{curly} words"],
  ])("is, without data, %s (S2-28)", (_what, outcome, content) => {
    const view = filterForModel(outcome, { includeData: false });
    expect(view.content).toBe(content);
    expect(view).not.toHaveProperty("data");
    expect(view.status).toBe(outcome.status);
  });

  it.each<[what: string, outcome: Outcome, content: string]>([
    ["the message of a command", command, "Returned 3 samples"],
    ["the first line", found, "Two hits.…"],
    ["the beginning of a long line", long, `${"x".repeat(199)}…`],
    ["the beginning of the data, when there are no words", bare, '{"city":"Oslo"}'],
    ["what failed", broken, "Tool execution failed: no"],
    ["all of a short text", toOutcome("12 degrees"), "12 degrees"],
  ])("is, as a summary, %s (S2-51)", (_what, outcome, content) => {
    const view = filterForModel(outcome, { includeData: true, resultForModel: "summary" });
    expect(view.content).toBe(content);
    expect(view).not.toHaveProperty("data");
  });

  it("has no data in a summary either, without `includeData` (S2-28, S2-51)", () => {
    expect(filterForModel(bare, { includeData: false, resultForModel: "summary" }).content).not.toContain(
      "Oslo",
    );
  });

  it("keeps the fields for the user", () => {
    expect(filterForModel(found, { includeData: true, resultForModel: "summary" }).ui).toEqual({
      kind: "list",
      props: 2,
    });
  });

  it("is the text from the tool's own function (S2-51)", () => {
    const resultForModel = ({ data }: Outcome) => `City: ${(data as { city: string }).city}`;
    expect(filterForModel(bare, { includeData: false, resultForModel })).toEqual({
      status: "ok",
      content: "City: Oslo",
    });
  });

  it.each<[what: string, view: () => unknown, problem: string]>([
    ["throws", fail, "no"],
    ["gives no text", () => 5, "it returned no text"],
    [
      "gives a promise, even one that rejects",
      () => Promise.reject(new Error("late")),
      "it returned no text",
    ],
  ])("is everything and a note, when that function %s (S2-51, F43)", (_what, view, problem) => {
    const resultForModel = view as () => string;
    const note = `(Formatting this result for you failed: ${problem})`;
    expect(filterForModel(bare, { includeData: true, resultForModel })).toEqual({
      ...bare,
      content: `{"city":"Oslo"}\n${note}`,
    });
    expect(filterForModel(bare, { includeData: false, resultForModel }).content).not.toContain("Oslo");
    const parts = toOutcome({ content: [{ type: "text", text: "Hi" }] });
    expect(filterForModel(parts, { includeData: true, resultForModel }).content).toEqual([
      { type: "text", text: "Hi" },
      { type: "text", text: note },
    ]);
  });
});
