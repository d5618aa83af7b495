import { describe, expect, it } from "vitest";
import type { ToolContext } from "../tool.ts";
import { toOutcome } from "./outcome.ts";
import { withErrorPrefix } from "./tool-return.ts";

const context = {} as ToolContext;
const contexts = [{ id: "d1", content: "…", source: { title: "Page" }, confidence: 0.9 }];

const failure = (message: string, code = "tool_failed", retryable = true) => ({ code, message, retryable });

describe("a command result", () => {
  it("is JSON indented by 2 for the model, with counts of the affected items, which are kept (S2-07, S2-08, S2-55, C-09)", () => {
    const returned = {
      success: true,
      message: "Added",
      data: { id: "n1" },
      affectedNodes: [{ id: "n1" }, { id: "n2" }],
      affectedEdges: ["e1"],
    };
    expect(toOutcome(returned)).toEqual({
      status: "ok",
      content: `{
  "success": true,
  "message": "Added",
  "data": {
    "id": "n1"
  },
  "affectedNodes": 2,
  "affectedEdges": 1
}`,
      data: { id: "n1" },
      affected: { nodes: [{ id: "n1" }, { id: "n2" }], edges: ["e1"] },
    });
  });

  it("omits absent fields (S2-08)", () => {
    expect(toOutcome({ success: true, message: "Done", data: undefined, affectedNodes: undefined })).toEqual({
      status: "ok",
      content: '{\n  "success": true,\n  "message": "Done"\n}',
    });
  });

  it.each([0, false, "", null])("keeps data that is %j, and lists that are empty (D-12)", (data) => {
    const outcome = toOutcome({ success: true, message: "", data, affectedNodes: [] });
    expect(outcome).toMatchObject({ data, affected: { nodes: [] } });
    expect(JSON.parse(String(outcome.content))).toEqual({
      success: true,
      message: "",
      data,
      affectedNodes: 0,
    });
  });

  it("without success is an error with its data and affected items (S2-55, C-09)", () => {
    const outcome = toOutcome({ success: false, message: "Half done", data: [1], affectedEdges: ["e1"] });
    expect(outcome).toMatchObject({
      status: "error",
      error: failure("Half done"),
      data: [1],
      affected: { edges: ["e1"] },
    });
    expect(JSON.parse(String(outcome.content))).toEqual({
      success: false,
      message: "Half done",
      data: [1],
      affectedEdges: 1,
    });
  });
});

describe("a result with a status", () => {
  it("has content for the model, and metadata as data (S4-34, C-09)", () => {
    expect(toOutcome({ status: "success", content: "12 degrees" })).toEqual({
      status: "ok",
      content: "12 degrees",
    });
    expect(toOutcome({ status: "success", content: "12 degrees", metadata: { source: "yr" } })).toEqual({
      status: "ok",
      content: "12 degrees",
      data: { source: "yr" },
    });
  });

  it("of error is one (S4-34, C-09)", () => {
    expect(toOutcome({ status: "error", content: "No such city", metadata: { tried: 2 } })).toEqual({
      status: "error",
      content: "No such city",
      error: failure("No such city"),
      data: { tried: 2 },
    });
  });

  it.each<[what: string, data: unknown, content: string]>([
    ["a text", "Two hits", "Two hits"],
    ["any value", { hits: 2 }, '{"hits":2}'],
    ["a falsy value", 0, "0"],
  ])("may have %s as data, and fragments in its metadata (S3-25, C-09)", (_what, data, content) => {
    expect(toOutcome({ status: "success", data, metadata: { toolName: "search", contexts } })).toEqual({
      status: "ok",
      content,
      data,
      contexts,
    });
  });

  it("of error may have a code and details (S3-25, C-09)", () => {
    const error = { code: "EXECUTION_FAILED", message: "disk full", details: undefined };
    expect(toOutcome({ status: "error", error, metadata: undefined })).toEqual({
      status: "error",
      content: "Tool execution failed: disk full",
      error: failure("disk full", "EXECUTION_FAILED"),
    });
    const details = { field: "city" };
    expect(
      toOutcome({
        status: "validation_error",
        error: { code: "INVALID_INPUT", message: "no city", details },
      }),
    ).toEqual({
      status: "error",
      content: "Tool execution failed: no city",
      error: failure("no city", "INVALID_INPUT", false),
      data: details,
    });
  });
});

describe("a result with an error beside it", () => {
  it.each<[returned: object, outcome: object]>([
    [{ result: { gate: 5 } }, { status: "ok", content: '{"gate":5}', data: { gate: 5 } }],
    [{ result: "Gate 5" }, { status: "ok", content: "Gate 5" }],
    [
      { result: null, error: null },
      { status: "ok", content: "null", data: null },
    ],
    [
      { result: 0, error: undefined },
      { status: "ok", content: "0", data: 0 },
    ],
    [
      { result: null, error: "Unknown tool" },
      { status: "error", content: "Tool execution failed: Unknown tool", error: failure("Unknown tool") },
    ],
    [
      { result: [1], error: "cut short" },
      {
        status: "error",
        content: "Tool execution failed: cut short",
        error: failure("cut short"),
        data: [1],
      },
    ],
  ])("%j (S0-30, C-09)", (returned, outcome) => {
    expect(toOutcome(returned)).toEqual(outcome);
  });
});

describe("a value that only resembles a shape is an ordinary value", () => {
  it.each<object>([
    { success: true },
    { success: "yes", message: "Added" },
    { success: true, message: "Added", id: 5 },
    { success: true, message: "Added", affectedNodes: 2 },
    { success: false, error: "no" },
    { status: "success" },
    { status: "shipped", content: "a book" },
    { status: "error" },
    { status: "error", message: "no" },
    { status: "success", content: ["a"] },
    { status: "success", content: "a", metadata: "b" },
    { status: "success", data: 1, error: "no" },
    { result: 1, error: { message: "no" } },
    { result: 1, error: 5 },
    { result: 1, total: 2 },
    { name: "Ada", result: 1 },
    { content: 5 },
    { content: [{ type: "chapter", text: "One" }] },
    { content: [{ type: "text" }] },
    { content: "a", author: "b" },
    { message: 5 },
    { ui: "dark" },
    { ui: { kind: "list" } },
    { contexts: ["home", "work"] },
    { retryable: true },
    { data: 1, retryable: "no" },
    { error: true },
    { error: null },
    { error: { code: 5 } },
    {},
  ])("%j (C-09)", (returned) => {
    expect(toOutcome(returned)).toEqual({ status: "ok", content: JSON.stringify(returned), data: returned });
  });
});

describe("`error: true`", () => {
  it("is an error with the message besides it (C-09)", () => {
    expect(toOutcome({ error: true, message: "no wind" })).toEqual({
      status: "error",
      content: "Tool execution failed: no wind",
      error: failure("no wind"),
    });
    expect(toOutcome({ error: true, message: "no wind", data: { knots: 0 }, retryable: false })).toEqual({
      status: "error",
      content: "Tool execution failed: no wind",
      error: failure("no wind", "tool_failed", false),
      data: { knots: 0 },
    });
  });

  it("is an ordinary value without a message, or when it is false (C-09)", () => {
    expect(toOutcome({ error: true, message: 5 })).toMatchObject({ status: "ok" });
    expect(toOutcome({ error: false, message: "fine" })).toMatchObject({ status: "ok" });
  });
});

describe("a tool that reports failure in its text", () => {
  it("fails when it is wrapped, and the model reads its text (S1-14, S1-15)", async () => {
    const read = withErrorPrefix((path: string) => `Error: no file ${path}`);
    expect(toOutcome(await read("a.txt", context))).toEqual({
      status: "error",
      content: "Error: no file a.txt",
      error: failure("no file a.txt"),
    });
  });

  it.each([
    "error: small",
    "An Error: later",
    " Error: indented",
    "",
    "fine",
  ])("returns any other text unchanged: %j (S1-14)", async (text) => {
    expect(await withErrorPrefix(async () => text)({}, context)).toBe(text);
  });

  it("returns any other value unchanged, and receives its input and context (S1-14)", async () => {
    const execute = withErrorPrefix((input: { a: number }, given) => ({ input, given }));
    expect(await execute({ a: 1 }, context)).toEqual({ input: { a: 1 }, given: context });
  });

  it("has a message for an empty error", async () => {
    expect(await withErrorPrefix(() => "Error:")({}, context)).toEqual({
      error: "Error:",
      content: "Error:",
    });
  });

  it("does not fail when it is not wrapped, because a file may start that way (D-11)", () => {
    expect(toOutcome("Error: the play, act one")).toEqual({
      status: "ok",
      content: "Error: the play, act one",
    });
  });
});
