import { describe, expect, it } from "vitest";
import { defineAgent, indexAgents } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import { decide } from "../../runtime/decide.ts";
import { fold } from "../../runtime/facts.ts";
import { resume, run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const input = { type: "object" } as const;
const look = defineTool({
  name: "look",
  description: "Looks.",
  input,
  execute: ({ fails }) => (fails ? { error: "Dark.", retryable: false } : "x".repeat(200)),
});

/** An agent that reaches its limit after one turn with two calls, one of which fails. */
function createFallbackAgent(fallbackTool: Tool) {
  const calls = [{ name: "look" }, { name: "look", input: { fails: true } }];
  return defineAgent({
    name: "helper",
    model: scriptedModel(() => ({ calls })),
    tools: [look],
    fallbackTool,
    policy: { maxTurns: 1, finalTurn: "keep-tools", onLimit: ["fallback-tool", "clarify"] },
  });
}

const runWith = (fallbackTool: Tool) =>
  collect(
    run(createFallbackAgent(fallbackTool), "Where is it?", { store: memory(), session: "s", runId: "r" }),
  );

/** The facts up to and including the start of the fallback tool, as after a crash in it. */
function takeUntilFallback(facts: readonly Fact[]): Fact[] {
  return facts.slice(
    0,
    facts.findIndex((fact) => fact.type === "tool_call_start" && fact.name === "widen") + 1,
  );
}

describe("the fallback tool", () => {
  it("receives the reason, the question and the calls so far (S3-41)", async () => {
    let given: unknown;
    const widen = defineTool({
      name: "widen",
      description: "Explains.",
      input,
      execute(input) {
        given = input;
        return "Wider.";
      },
    });
    await runWith(widen);
    expect(given).toEqual({
      reason: "The limit of 1 turn was reached.",
      query: "Where is it?",
      tried: [
        { tool: "look", status: "ok", preview: `${"x".repeat(100)}…` },
        { tool: "look", status: "error", preview: "Tool execution failed: Dark." },
      ],
    });
  });

  it("is listed among the calls of the run, with its input", async () => {
    const widen = defineTool({ name: "widen", description: "Explains.", input, execute: () => "Wider." });
    const { result } = await runWith(widen);
    expect(result.toolCalls.at(-1)).toMatchObject({
      id: "r.fallback",
      name: "widen",
      input: { query: "Where is it?" },
      result: "Wider.",
      status: "ok",
    });
  });

  it.each([
    { gate: "default", reads: ["untrusted", "private"], effects: "send", runs: false },
    { gate: "default", reads: ["untrusted", "private"], effects: "none", runs: true },
    { gate: "default", reads: ["private"], effects: "send", runs: true },
    { gate: "strict", reads: ["untrusted"], effects: "send", runs: false },
    { gate: "off", reads: ["untrusted", "private"], effects: "send", runs: true },
  ] as const)("with effects: $effects after reading $reads under gate: $gate runs: $runs (A100)", async ({
    gate,
    reads,
    effects,
    runs,
  }) => {
    const sent: unknown[] = [];
    const settings = { description: "", input };
    const page = defineTool({ ...settings, name: "page", effects: "none", reads, execute: () => "Text." });
    const ticket = defineTool({
      ...{ ...settings, name: "ticket", effects, reads: [] },
      execute(call) {
        sent.push(call);
        return "A ticket was opened.";
      },
    });
    const agent = defineAgent({
      ...{ name: "helper", model: scriptedModel(() => ({ calls: [{ name: "page" }] })), tools: [page] },
      fallbackTool: ticket,
      policy: { gate, maxTurns: 1, finalTurn: "keep-tools", onLimit: ["fallback-tool", "clarify"] },
    });
    const { status, text } = await run(agent, "Where is it?", { store: memory() });
    expect(status).toBe("limit");
    expect([sent.length > 0, text.startsWith("A ticket")]).toEqual([runs, runs]);
  });

  it("is not offered to the model", async () => {
    const widen = defineTool({ name: "widen", description: "Explains.", input, execute: () => "Wider." });
    const agent = createFallbackAgent(widen);
    expect(agent.specs.map(({ name }) => name)).toEqual(["look"]);
    const { result } = await runWith(widen);
    expect(result.history.flatMap((entry) => (entry.type === "result" ? [entry.name] : []))).toEqual([
      "look",
      "look",
    ]);
  });

  it.each<[string, () => unknown]>([
    ["throws", () => Promise.reject(new Error("Down."))],
    ["returns an error", () => ({ error: "Down." })],
    ["returns nothing to read", () => "  \n"],
  ])("leaves the answer to the next action when it %s (S3-41, C-03)", async (_what, execute) => {
    const { result } = await runWith(defineTool({ name: "widen", description: "Fails.", input, execute }));
    expect(result).toMatchObject({ status: "limit", error: { code: "max_turns" } });
    expect(result.text).toMatch(/Could you tell me a little more/);
  });

  it("may be retried when it has no effects", async () => {
    let attempts = 0;
    const widen = defineTool({
      name: "widen",
      description: "Fails once.",
      input,
      effects: "none",
      retry: { baseMs: 0 },
      execute: () => (++attempts === 1 ? { error: "Busy." } : "Wider."),
    });
    expect((await runWith(widen)).result).toMatchObject({ text: "Wider." });
    expect(attempts).toBe(2);
  });
});

describe("after a crash in the fallback tool", () => {
  it("it runs again with the same key if it is repeatable", async () => {
    const keys: string[] = [];
    const widen = defineTool({
      name: "widen",
      description: "Explains.",
      input,
      effects: "none",
      execute(_input, { idempotencyKey }) {
        keys.push(idempotencyKey);
        return "Wider.";
      },
    });
    const { facts } = await runWith(widen);
    const { facts: later, result } = await collect(
      resume(createFallbackAgent(widen), takeUntilFallback(facts)),
    );
    expect(result).toMatchObject({ status: "limit", text: "Wider." });
    expect(keys).toEqual(["r/r.fallback", "r/r.fallback"]);
    expect(later.find((fact) => fact.type === "tool_call_start")).toMatchObject({
      name: "widen",
      attempt: 2,
    });
  });

  it("it does not run again if it may have had an effect, and the next action answers", async () => {
    let ran = 0;
    const widen = defineTool({
      name: "widen",
      description: "Opens a ticket.",
      input,
      effects: "send",
      execute() {
        ran += 1;
        return "Ticket opened.";
      },
    });
    const { facts } = await runWith(widen);
    const result = await resume(createFallbackAgent(widen), takeUntilFallback(facts));
    expect(ran).toBe(1);
    expect(result.text).toMatch(/Could you tell me a little more/);
  });

  it("its call still gets a result: interrupted", async () => {
    const widen = defineTool({
      name: "widen",
      description: "Sends.",
      input,
      effects: "send",
      execute: () => "Sent.",
    });
    const { facts } = await runWith(widen);
    const result = await resume(createFallbackAgent(widen), takeUntilFallback(facts));
    expect(result.toolCalls.at(-1)).toMatchObject({ name: "widen", status: "interrupted" });
  });

  it("a stored result is used, and nothing runs again", async () => {
    const widen = defineTool({ name: "widen", description: "Sends.", input, execute: () => "Sent." });
    const { facts } = await runWith(widen);
    const state = fold("s", facts.slice(0, -1));
    expect(decide(indexAgents(createFallbackAgent(widen)), state)).toMatchObject({
      type: "effects",
      effects: [{ type: "note", facts: [{ type: "done", text: "Sent." }] }],
    });
  });
});
