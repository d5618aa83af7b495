import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";

const numbers = Array.from({ length: 3000 }, (_, index) => index);

function createListTool(settings: Partial<Tool> = {}, returns: unknown = numbers) {
  return defineTool({
    name: "list",
    description: "Lists.",
    input: { type: "object" },
    effects: "none",
    ...(settings.maxResultSize !== undefined && { maxResultSize: settings.maxResultSize }),
    ...(settings.resultForModel !== undefined && { resultForModel: settings.resultForModel }),
    execute: () => returns,
  });
}

async function runWithTool(tool: Tool, steps: readonly ScriptedStep[], policy: PolicyOverrides = {}) {
  const model = scriptedModel([{ calls: [{ name: "list" }] }, ...steps, { text: "Done." }]);
  const result = await run(defineAgent({ name: "reader", model, tools: [tool], policy }), "Go.", {
    store: memory(),
  });
  return { model, result, shown: result.toolCalls.map((call) => String(call.result)) };
}

describe("a result that is too large", () => {
  it("is truncated to valid JSON that says how much is missing, and the rest can be read with its handle (S2-29, S2-30, C-22)", async () => {
    const read = { name: "read_result", input: { handle: "blob_1", from: 13_880, length: 20 } };
    const { model, shown } = await runWithTool(createListTool(), [{ calls: [read] }]);
    expect(shown[0]?.length).toBeLessThanOrEqual(4000);
    expect(JSON.parse(shown[0] ?? "")).toBeInstanceOf(Array);
    expect(shown[0]).toMatch(/of 3,?000/);
    expect(shown[0]).toContain("blob_1");
    expect(model.requests.map(({ tools }) => tools.map((tool) => tool.name))).toEqual([
      ["list"],
      ["list", "read_result"],
      ["list", "read_result"],
    ]);
    expect(shown[1]).toContain("2999]");
  });

  it("reports the size of millions of characters too, and all of it can be read (C-22)", async () => {
    const rows = Array.from({ length: 150_000 }, (_, id) => ({ id, name: "somebody" }));
    const last = { name: "read_result", input: { handle: "blob_1", from: JSON.stringify(rows).length - 20 } };
    const { shown } = await runWithTool(createListTool({}, rows), [{ calls: [last] }]);
    expect(shown[0]).toMatch(/of 150,000 items/);
    expect(shown[1]).toContain('"somebody"}]');
  });

  it("is plain text up to 16,000 characters, with its head and tail (C-22)", async () => {
    const { shown } = await runWithTool(createListTool({}, `head ${"x".repeat(50_000)} tail`), []);
    expect(shown[0]?.length).toBeLessThanOrEqual(16_000);
    expect(shown[0]).toMatch(/^head .* tail$/s);
  });

  it("has the size set by the policy, or by the tool, which takes precedence (C-22)", async () => {
    const small = await runWithTool(createListTool(), [], { maxToolResultSize: 500 });
    expect(small.shown[0]?.length).toBeLessThanOrEqual(500);
    const large = await runWithTool(createListTool({ maxResultSize: "unlimited" }), [], {
      maxToolResultSize: 500,
    });
    expect(JSON.parse(large.shown[0] ?? "")).toEqual(numbers);
  });

  it("keeps its data for the user interface, unless it is too large for a log (F47)", async () => {
    const { result } = await runWithTool(createListTool(), []);
    expect(result.history.find((entry) => entry.type === "result")).toMatchObject({ data: numbers });
    const huge = await runWithTool(createListTool({}, { text: "y".repeat(300_000) }), []);
    expect(JSON.stringify(huge.result.history).length).toBeLessThan(10_000);
  });

  it("that is binary is stored and named, but not shown (F50)", async () => {
    const read = { name: "read_result", input: { handle: "blob_1" } };
    const { shown } = await runWithTool(createListTool({}, new Uint8Array(5000)), [{ calls: [read] }]);
    expect(shown[0]).toMatch(/5,000 bytes\] Kept as blob_1/);
    expect(shown[1]).toMatch(/binary/);
  });
});

describe("a tool with an output schema", () => {
  const promising = (returns: unknown) =>
    defineTool({
      name: "list",
      description: "Counts.",
      input: { type: "object" },
      output: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
      effects: "none",
      execute: () => returns,
    });

  it("has its results validated: an invalid one is an error to the model (F54)", async () => {
    const kept = await runWithTool(promising({ count: 3 }), []);
    expect(kept.result.toolCalls).toMatchObject([{ status: "ok", result: '{"count":3}' }]);
    const broken = await runWithTool(promising({ count: "many" }), []);
    expect(broken.result.toolCalls).toMatchObject([{ status: "error", attempts: 1 }]);
    expect(broken.shown[0]).toMatch(
      /"list" returned a result that does not match its output schema: count: .*"string"/,
    );
  });
});

describe("the content for the model", () => {
  const found = { message: "3 nodes found", data: { ids: ["a", "b", "c"] } };

  it("is everything by default, the message alone without data, or the output of resultForModel (S2-28, S2-51)", async () => {
    expect((await runWithTool(createListTool({}, found), [])).shown[0]).toContain('"ids"');
    expect((await runWithTool(createListTool({}, found), [], { includeToolData: false })).shown[0]).toBe(
      "3 nodes found",
    );
    expect((await runWithTool(createListTool({ resultForModel: "summary" }, found), [])).shown[0]).toBe(
      "3 nodes found",
    );
    const counted = createListTool(
      { resultForModel: ({ data }) => `${Object.keys(data ?? {}).length} field` },
      found,
    );
    expect((await runWithTool(counted, [])).shown[0]).toBe("1 field");
  });
});

describe("read_result", () => {
  it("is not offered before a result was truncated, and rejects an unknown handle", async () => {
    const { model, shown } = await runWithTool(createListTool({}, "short"), [
      { calls: [{ name: "read_result", input: { handle: "blob_9" } }] },
    ]);
    expect(model.requests.every(({ tools }) => tools.length === 1)).toBe(true);
    expect(shown[1]).toContain('Result handle "blob_9" not found');
  });
});
