import { describe, expect, it } from "vitest";
import { defineAgent, indexAgents } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import { defineTool } from "../../kernel/tool.ts";
import { decide } from "../../runtime/decide.ts";
import { fold } from "../../runtime/facts.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const input = { type: "object" } as const;
const options = () => ({ store: memory(), session: "s", runId: "r" });

describe("a cancelled run", () => {
  it("ends at once, whatever its tools do, and every call has one result", async () => {
    const stuck = defineTool({
      name: "stuck",
      description: "Never ends.",
      input,
      execute() {
        running.cancel("Enough.");
        return new Promise(() => undefined);
      },
    });
    const write = defineTool({
      name: "write",
      description: "Writes.",
      input,
      effects: "state",
      execute: () => "-",
    });
    const calls = [
      { id: "c1", name: "stuck" },
      { id: "c2", name: "write" },
    ];
    const model = scriptedModel([{ text: "On it.", calls }]);
    const agent = defineAgent({ name: "helper", model, tools: [stuck, write] });
    const running = run(agent, "Go.", options());
    const { facts, result } = await collect(running);
    expect(facts.filter((fact) => fact.type === "tool_call_result")).toMatchObject([
      { id: "c1", status: "interrupted", error: { code: "tool_interrupted" } },
      {
        id: "c2",
        status: "skipped",
        result: "The run ended before this call started.",
        error: { code: "tool_skipped" },
      },
    ]);
    expect(facts.slice(-2)).toMatchObject([{ type: "turn_end" }, { type: "done", status: "cancelled" }]);
    expect(result).toMatchObject({
      status: "cancelled",
      text: "On it.",
      error: { code: "cancelled", message: "Enough.", retryable: false },
    });
  });

  it("keeps the partial text (F37)", async () => {
    const model = scriptedModel([{ text: "Once upon a time", hang: true }]);
    const running = run(defineAgent({ name: "helper", model }), "Tell.", options());
    const facts: Fact["type"][] = [];
    for await (const event of running) {
      if (event.type === "content_delta") running.cancel();
      if ("seq" in event) facts.push(event.type);
    }
    expect(await running).toMatchObject({ status: "cancelled", text: "Once upon a time", turns: 1 });
    // The usage of a partial answer can only be estimated, hence the warning.
    expect(facts).toEqual([
      "run_start",
      "turn_start",
      "message",
      "warning",
      "cancel_requested",
      "turn_end",
      "done",
    ]);
  });

  it("has a text even when the model had written nothing", async () => {
    const model = scriptedModel([{ hang: true }]);
    const running = run(defineAgent({ name: "helper", model }), "Tell.", options());
    running.cancel();
    expect(await running).toMatchObject({
      status: "cancelled",
      text: "The run was stopped before it had an answer.",
      error: { message: "The run was cancelled." },
    });
  });

  it("can be one that waits for the user: the call is skipped", async () => {
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input,
      needsApproval: true,
      execute: () => "Paid.",
    });
    const model = scriptedModel([{ calls: [{ id: "c1", name: "pay" }] }]);
    const running = run(defineAgent({ name: "helper", model, tools: [pay] }), "Pay.", options());
    expect(await running).toMatchObject({ status: "waiting" });
    const { status, toolCalls, history } = await running.cancel();
    expect(status).toBe("cancelled");
    expect(toolCalls).toMatchObject([{ id: "c1", status: "skipped" }]);
    expect(history.map(({ type }) => type)).toEqual(["user", "assistant", "result"]);
  });

  it("leaves the session usable for the next run", async () => {
    const model = scriptedModel([{ text: "Once", hang: true }, { text: "Fine." }]);
    const agent = defineAgent({ name: "helper", model });
    const shared = { store: memory(), session: "s" };
    const first = run(agent, "One?", shared);
    for await (const event of first) if (event.type === "content_delta") first.cancel();
    expect(await run(agent, "Two?", shared)).toMatchObject({ status: "done", text: "Fine." });
  });

  it("is handled before anything else, and only once", async () => {
    const look = defineTool({ name: "look", description: "Looks.", input, execute: () => "Seen." });
    const model = scriptedModel([{ calls: [{ name: "look" }] }, { text: "Done." }]);
    const agent = defineAgent({ name: "helper", model, tools: [look], policy: { maxTurns: 1 } });
    const { facts } = await collect(run(agent, "Go.", options()));
    const limit = facts.findIndex(({ type }) => type === "limit_reached");
    const before = facts.slice(0, limit + 1);
    const last = before.at(-1);
    if (!last) throw new Error("There is no limit.");
    const { runId, sessionId, turn, at } = last;
    const origin = { runId, sessionId, agent: "helper", turn, at };
    const cancel = { ...origin, type: "cancel_requested", reason: "Stop.", seq: limit + 2, id: "x" } as const;
    expect(decide(indexAgents(agent), fold("s", [...before, cancel]))).toMatchObject({
      effects: [{ facts: [{ type: "done", status: "cancelled" }] }],
    });
    const second = { ...cancel, reason: "Stop again.", seq: limit + 3, id: "y" };
    expect(fold("s", [...before, cancel, second]).run?.cancelReason).toBe("Stop.");
  });
});
