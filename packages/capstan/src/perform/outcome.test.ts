import { describe, expect, it } from "vitest";
import { errorData } from "../errors.ts";
import { failed, interrupted, outcomeOf } from "./outcome.ts";

describe("what a tool returns becomes one shape", () => {
  it.each([
    ["a text", "12 degrees", "12 degrees"],
    ["a number", 42, "42"],
    ["a boolean", false, "false"],
    ["null", null, "null"],
    ["nothing", undefined, ""],
    ["a list", [1, { a: 2 }], '[1,{"a":2}]'],
    ["an object of its own", { city: "Oslo", degrees: 12 }, '{"city":"Oslo","degrees":12}'],
    [
      "an object of its own that has fields of ours among others",
      { data: 1, total: 2 },
      '{"data":1,"total":2}',
    ],
    ["an empty object", {}, "{}"],
    ["content that is neither text nor parts", { content: 5 }, '{"content":5}'],
    ["an error without words", { error: true }, '{"error":true}'],
  ])("%s (S0-38, S4-34)", (_what, returned, content) => {
    expect(outcomeOf(returned)).toEqual({ status: "ok", content });
  });

  it("content for the model, and what people and the run are told beside it", () => {
    const returned = {
      content: "Two hits.",
      data: { hits: 2 },
      ui: { kind: "list", props: { rows: 2 } },
      contexts: [{ id: "d1", content: "…", source: { title: "Page" } }],
      affected: ["index"],
    };
    expect(outcomeOf(returned)).toEqual({ status: "ok", ...returned });
  });

  it("content in parts", () => {
    const content = [
      { type: "text", text: "The chart:" },
      { type: "image", mediaType: "image/png", data: "aGk=" },
    ];
    expect(outcomeOf({ content })).toEqual({ status: "ok", content });
  });

  it("data without content, which is then the content", () => {
    expect(outcomeOf({ data: { hits: 2 } })).toEqual({
      status: "ok",
      content: '{"hits":2}',
      data: { hits: 2 },
    });
  });

  it("data and a message, which the model both reads", () => {
    expect(outcomeOf({ message: "Found.", data: [1] })).toEqual({
      status: "ok",
      content: '{"message":"Found.","data":[1]}',
      data: [1],
    });
  });

  it("data as JSON, so that it is the same after it was stored", () => {
    const at = new Date(Date.UTC(2026, 0, 1));
    expect(outcomeOf({ content: "", data: { at, none: undefined } }).data).toEqual({
      at: "2026-01-01T00:00:00.000Z",
    });
  });
});

describe("a failure has the same shape as a success", () => {
  it("from a text (S0-38, S4-36)", () => {
    expect(outcomeOf({ error: "no such city" })).toEqual({
      status: "error",
      content: "Tool execution failed: no such city",
      error: { code: "tool_failed", message: "no such city", retryable: true },
    });
  });

  it("from a code of the tool's own (S3-25)", () => {
    expect(outcomeOf({ error: { code: "EXECUTION_FAILED", message: "disk full" } })).toEqual({
      status: "error",
      content: "Tool execution failed: disk full",
      error: { code: "EXECUTION_FAILED", message: "disk full", retryable: true },
    });
  });

  it.each([
    ["its own word", { error: "gone", retryable: false }, false],
    ["its code, when it is one of ours", { error: { code: "security", message: "no" } }, false],
    ["its own word before its code", { error: { code: "security", message: "no" }, retryable: true }, true],
    ["neither", { error: "busy" }, true],
    ["a code that is a name of Object.prototype", { error: { code: "toString", message: "no" } }, true],
  ])("retryable by %s (S4-16)", (_what, returned, retryable) => {
    expect(outcomeOf(returned).error?.retryable).toBe(retryable);
  });

  it("with the data, the hint and the fragments that came with it", () => {
    const rest = { data: { tried: 3 }, ui: { kind: "alert", props: {} }, affected: ["a"] };
    expect(outcomeOf({ error: "half done", ...rest })).toMatchObject({ status: "error", ...rest });
  });

  it("with words of ours as they are, and the words of others named as a failure", () => {
    expect(failed(errorData("bad_arguments", "Bad arguments for x.")).content).toBe("Bad arguments for x.");
    expect(failed({ code: "ENOENT", message: "no file", retryable: true }).content).toBe(
      "Tool execution failed: no file",
    );
  });

  it("with a message that is cut at 4,096 characters (F44)", () => {
    const { error, content } = outcomeOf({ error: "x".repeat(5_000_000) });
    expect(error?.message.length).toBeLessThan(4200);
    expect(content.length).toBeLessThan(4300);
  });
});

it("a call whose approval does not fit it is denied, not failed (A109)", () => {
  expect(failed(errorData("approval_mismatch", "Not what was approved.")).status).toBe("denied");
});

it("a call that was cut short says that it may or may not have taken effect", () => {
  expect(interrupted).toMatchObject({
    status: "interrupted",
    content: expect.stringContaining("may or may not have taken effect"),
    error: { code: "tool_interrupted", retryable: false },
  });
});
