import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import { defineTool } from "../../kernel/tool.ts";
import type { Result } from "../../runtime/result.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { type Script, type ScriptedModel, scriptedModel } from "../../testing/scripted-model.ts";

/** Counts how many calls run, and how many at once. */
function createCounter() {
  const seen = { ran: 0, running: 0, peak: 0 };
  const look = defineTool({
    name: "look",
    description: "Looks, or fails.",
    input: { type: "object" },
    async execute({ fails, n }) {
      seen.ran += 1;
      seen.running += 1;
      seen.peak = Math.max(seen.peak, seen.running);
      await new Promise((resolve) => setTimeout(resolve, 0));
      seen.running -= 1;
      return fails ? { error: "Dark.", retryable: false } : `Seen ${n}.`;
    },
  });
  return { seen, look };
}

async function runWith(
  script: Script,
  {
    look = createCounter().look,
    ...more
  }: Partial<AgentDefinition> & { look?: ReturnType<typeof createCounter>["look"] } = {},
): Promise<{ model: ScriptedModel; facts: Fact[]; result: Result }> {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: "helper", tools: [look], ...more, model });
  const { facts, result } = await collect(run(agent, "Go.", { store: memory(), session: "s", runId: "r" }));
  return { model, facts, result };
}

const buildCalls = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: "look", input: { n } }));

describe("too many calls in one turn", () => {
  it("run up to 64, 8 at once, and the rest get an error result (F35)", async () => {
    const { seen, look } = createCounter();
    const { model, result } = await runWith([{ calls: buildCalls(200) }, { text: "Done." }], { look });
    expect(seen).toMatchObject({ ran: 64, peak: 8 });
    const results = model.requests[1]?.history.filter((entry) => entry.type === "result") ?? [];
    expect(results).toHaveLength(200);
    expect(results[63]).toMatchObject({ status: "ok", content: "Seen 63." });
    expect(results.slice(64).every((entry) => entry.error?.code === "too_many_calls")).toBe(true);
    expect(results[64]).toMatchObject({
      status: "error",
      content: "Only 64 calls are made per turn. Make this one in the next turn.",
    });
    expect(result.status).toBe("done");
  });

  it("do not affect a turn of exactly 64 (F35)", async () => {
    const { result } = await runWith([{ calls: buildCalls(64) }, { text: "Done." }]);
    expect(result.toolCalls.filter(({ status }) => status === "ok")).toHaveLength(64);
  });

  it("do not stop the first 64 when a failure stops the turn (F35, C-06)", async () => {
    const { seen, look } = createCounter();
    await runWith([{ calls: buildCalls(65) }, { text: "Done." }], { look, policy: { onToolError: "stop" } });
    expect(seen.ran).toBe(64);
  });

  it("run as many in parallel as the policy says (F35, C-05)", async () => {
    const { seen, look } = createCounter();
    await runWith([{ calls: buildCalls(20) }, { text: "Done." }], { look, policy: { maxConcurrency: 3 } });
    expect(seen).toMatchObject({ ran: 20, peak: 3 });
  });
});

describe("a call in a turn without tools", () => {
  it("does not run and has a result that says so (C-02, S0-21)", async () => {
    const { seen, look } = createCounter();
    const { facts } = await runWith(() => ({ calls: [{ id: "c1", name: "look" }] }), {
      look,
      policy: { maxTurns: 1 },
    });
    expect(seen.ran).toBe(0);
    expect(facts.filter((fact) => fact.type === "tool_call_start")).toEqual([]);
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      id: "c1",
      status: "skipped",
      is_error: true,
      attempts: 0,
      error: { code: "tool_skipped", retryable: false },
    });
  });

  it("runs under keep-tools (C-02)", async () => {
    const { seen, look } = createCounter();
    await runWith(() => ({ calls: [{ name: "look" }] }), {
      look,
      policy: { maxTurns: 1, finalTurn: "keep-tools" },
    });
    expect(seen.ran).toBe(1);
  });
});

describe("after a failed call", () => {
  const calls = [
    { name: "look", input: { n: 1 } },
    { name: "look", input: { n: 2, fails: true } },
    { name: "look", input: { n: 3 } },
    { name: "look", input: { n: 4 } },
  ];

  it("the others still run by default (C-06, S2-09)", async () => {
    const { result } = await runWith([{ calls }, { text: "Done." }], {
      policy: { toolExecution: "sequential" },
    });
    expect(result.toolCalls.map(({ status }) => status)).toEqual(["ok", "error", "ok", "ok"]);
  });

  it("the rest are skipped under stop, each with a result, and the model is called again (C-06, D-15)", async () => {
    const { model, result } = await runWith([{ calls }, { text: "Done." }], {
      policy: { toolExecution: "sequential", onToolError: "stop" },
    });
    expect(model.requests[1]?.history.slice(-4)).toMatchObject([
      { status: "ok" },
      { status: "error" },
      { status: "skipped", content: "Another call of this turn failed, so this one was not made." },
      { status: "skipped", error: { code: "tool_skipped" } },
    ]);
    expect(result).toMatchObject({ status: "done", text: "Done." });
  });

  it("all results are added to the history with their status, not only successful ones (D-15)", async () => {
    const { model } = await runWith([{ calls }, { text: "Done." }]);
    const results = model.requests[1]?.history.flatMap((entry) =>
      entry.type === "result" ? [entry.status] : [],
    );
    expect(results).toEqual(["ok", "error", "ok", "ok"]);
  });

  it("under stop, a failed turn does not affect the next one (C-06)", async () => {
    const { result } = await runWith(
      [{ calls: calls.slice(1, 3) }, { calls: calls.slice(2, 4) }, { text: "Done." }],
      { policy: { toolExecution: "sequential", onToolError: "stop" } },
    );
    expect(result.toolCalls.map(({ status }) => status)).toEqual(["error", "skipped", "ok", "ok"]);
  });
});
