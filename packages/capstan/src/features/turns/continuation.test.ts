import { describe, expect, it } from "vitest";
import { buildView } from "../../client/reduce.ts";
import { type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import type { Event, Fact } from "../../kernel/event.ts";
import { getText } from "../../kernel/history.ts";
import type { Chunk, Model } from "../../kernel/model.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { resume, run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type Script, type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";

const cut = (text: string): ScriptedStep => ({ text, finish: "length" });

type RunOptions = Partial<AgentDefinition> & { readonly policy?: PolicyOverrides };

async function runWith(script: Script, options: RunOptions = {}) {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: "a", model, ...options });
  const clock = fakeClock({ skipUpToMs: 60_000 });
  const outcome = await collect(run(agent, "Tell me.", { store: memory(), session: "s", runId: "r", clock }));
  return { ...outcome, model };
}

/** The text that a reader shows after these events. */
function readText(events: readonly Event[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "message_restart" || event.type === "model_failed") text = "";
    if (event.type === "content_delta") text += event.delta;
  }
  return text;
}

const types = (facts: readonly Fact[]) => facts.map(({ type }) => type);

describe("a text cut off at the output limit", () => {
  it("is continued by the model, and the parts are one answer, one message and one entry (F23, F88)", async () => {
    const { model, result, facts, events } = await runWith([
      cut("Once upon a ti"),
      cut("me there was a king"),
      { text: ". The end." },
    ]);
    const text = "Once upon a time there was a king. The end.";
    expect(result).toMatchObject({ status: "done", text, stopReason: "end", turns: 1 });
    expect(result.usage).toMatchObject({ inputTokens: 30, outputTokens: 15 });
    expect(result.history).toEqual([
      { type: "user", content: "Tell me." },
      { type: "assistant", parts: [{ type: "text", text }] },
    ]);
    expect(types(facts)).toEqual([
      ...["run_start", "turn_start", "message_partial", "message_partial", "message", "turn_end", "done"],
    ]);
    expect(readText(events)).toBe(text);
    expect(buildView(events)).toMatchObject({ status: "done", usage: { inputTokens: 30 } });
    // The request has the text so far and asks to go on from its last words.
    expect(model.requests[1]?.history).toEqual([
      { type: "user", content: "Tell me." },
      { type: "assistant", parts: [{ type: "text", text: "Once upon a ti" }] },
      { type: "user", content: expect.stringContaining('"Once upon a ti"') },
    ]);
  });

  it("stays in the history when the run is cancelled before the continuation", async () => {
    const model = scriptedModel([cut("Once upon a ti"), { error: "overloaded" }, { text: "It is noon." }]);
    const agent = defineAgent({ name: "a", model });
    const shared = { store: memory(), session: "s" };
    const running = run(agent, "Tell me.", shared);
    for await (const event of running) if (event.type === "retry") running.cancel();
    expect(await running).toMatchObject({ status: "cancelled", text: "Once upon a ti" });
    expect(await run(agent, "What time is it?", shared)).toMatchObject({ text: "It is noon." });
    expect(model.requests.at(-1)?.history).toEqual([
      { type: "user", content: "Tell me." },
      { type: "assistant", parts: [{ type: "text", text: "Once upon a ti" }] },
      { type: "user", content: "What time is it?" },
    ]);
  });

  it("is joined without repeating what the model says again", async () => {
    const { result, events } = await runWith([
      cut("The king lived in a large castle near the sea. One day he "),
      { text: "near the sea. One day he left it, and never came back.", split: 3 },
    ]);
    expect(result.text).toBe(
      "The king lived in a large castle near the sea. One day he left it, and never came back.",
    );
    expect(readText(events)).toBe(result.text);
  });

  it("is continued five times at most; then the run ends with the status `limit` and all of the text", async () => {
    const { result, model } = await runWith(Array.from({ length: 7 }, (_, n) => cut(`part ${n}, `)));
    expect(model.requests).toHaveLength(6);
    expect(result).toMatchObject({
      ...{ status: "limit", stopReason: "length", error: { code: "output_truncated" } },
      text: "part 0, part 1, part 2, part 3, part 4, part 5,",
    });
  });

  it("is not continued if the policy says so", async () => {
    const policy = { onOutputLimit: "stop" } as const;
    const { result, model } = await runWith([cut("Half")], { policy });
    expect(model.requests).toHaveLength(1);
    expect(result).toMatchObject({ status: "limit", text: "Half", stopReason: "length" });
    const failing = await runWith([cut("Half")], { policy: { ...policy, onLimit: ["fail"] } });
    expect(failing.result).toMatchObject({ status: "failed", error: { code: "output_truncated" } });
  });

  it("is never continued if it is data: the model gets more room instead", async () => {
    const output = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
    const { result, facts } = await runWith([cut('{"a":"x'), { text: '{"a":"xyz"}' }], { output });
    expect(result).toMatchObject({ status: "done", output: { a: "xyz" } });
    expect(types(facts)).not.toContain("message_partial");
  });

  it("keeps its parts when a continuation fails, and readers see them again", async () => {
    const broken: ScriptedStep = { text: "me there ".repeat(50), error: "model_overloaded" };
    const { result, events } = await runWith([cut("Once upon a ti"), broken, { text: "me." }]);
    expect(result).toMatchObject({ status: "done", text: "Once upon a time." });
    expect(readText(events)).toBe("Once upon a time.");
    expect(events.filter(({ type }) => type === "message_restart")).toHaveLength(1);
    const failed = await runWith([cut("Once upon a ti"), { error: "model_auth" }]);
    expect(failed.result).toMatchObject({
      ...{ status: "failed", text: "Once upon a ti", error: { code: "model_auth" } },
    });
  });

  it("is continued by the next model of the chain, and readers see the parts again", async () => {
    const first = scriptedModel([cut("Once upon a ti"), { error: "model_auth" }], { id: "first" });
    const second = scriptedModel([{ text: "me." }], { id: "second" });
    const agent = defineAgent({ name: "a", model: [first, second] });
    const { result, events } = await collect(run(agent, "Tell me.", { store: memory() }));
    expect(result).toMatchObject({ status: "done", text: "Once upon a time." });
    expect(readText(events)).toBe("Once upon a time.");
  });

  it("ends at a spent budget, with the text so far", async () => {
    const { result, model } = await runWith([cut("Once upon a ti")], { policy: { budget: { tokens: 12 } } });
    expect(model.requests).toHaveLength(1);
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_tokens" } });
    expect(result.text).toContain("Once upon a ti");
  });

  it("keeps its text when the run is cancelled during a continuation (F37)", async () => {
    const agent = defineAgent({
      name: "a",
      model: scriptedModel([cut("Once upon a ti"), { text: "me there ".repeat(50), hang: true }]),
    });
    const going = run(agent, "Tell me.", { store: memory() });
    for await (const event of going)
      if (event.type === "content_delta" && event.delta.startsWith("me there")) going.cancel();
    const result = await going;
    expect(result.status).toBe("cancelled");
    expect(result.text.startsWith("Once upon a time there me there")).toBe(true);
    expect(result.history).toHaveLength(2);
  });

  it("is continued after a crash, without asking for its first part again", async () => {
    const { facts } = await runWith([cut("Once upon a ti"), { text: "me." }]);
    const at = facts.findIndex(({ type }) => type === "message_partial");
    const model = scriptedModel([{ text: "me." }]);
    const agent = defineAgent({ name: "a", model });
    const going = resume(agent, facts.slice(0, at + 1));
    const events: Event[] = [];
    for await (const event of going) events.push(event);
    const result = await going;
    expect(model.requests).toHaveLength(1);
    expect(result).toMatchObject({ status: "done", text: "Once upon a time.", turns: 1 });
    expect(result.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
  });
});

describe("a view of a message that the model continues", () => {
  it("has the stored part, also for a reader that connects or reconnects after it", async () => {
    const { events } = await runWith([cut("Once upon a ti"), { text: "me." }]);
    const at = events.findIndex(({ type }) => type === "message_partial");
    const facts = events.slice(0, at + 1).filter((event): event is Fact => "seq" in event);
    const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1 };
    const more: Event = { type: "content_delta", delta: "me", ...origin };
    expect(buildView([...facts, more]).live.text).toBe("Once upon a time");
    const reconnected: Event = { type: "message_restart", reason: "reconnected", ...origin };
    expect(buildView([...facts, more, reconnected, more]).live.text).toBe("Once upon a time");
  });
});

describe("a turn that the provider pauses", () => {
  const serverTool: Chunk = {
    type: "opaque",
    data: { wire: "p", data: { type: "server_tool_use", id: "x" } },
  };
  const found: Chunk = { type: "opaque", data: { wire: "p", data: { type: "result", id: "x" } } };

  function createPausing(...answers: readonly (readonly Chunk[])[]): Model & { histories: unknown[] } {
    const histories: unknown[] = [];
    return {
      id: "pausing",
      histories,
      async *stream({ history }) {
        histories.push([...history]);
        yield answers[histories.length - 1] ?? answers.at(-1) ?? [];
      },
    };
  }

  it("is continued with the answer so far, sent back unchanged, and keeps the server-side tool's work", async () => {
    const usage: Chunk = { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } };
    const model = createPausing(
      [{ type: "text", text: "Looking. " }, serverTool, usage, { type: "finish", reason: "pause" }],
      [found, { type: "text", text: "Found it." }, usage, { type: "finish", reason: "end" }],
    );
    const { result, facts } = await collect(
      run(defineAgent({ name: "a", model }), "Look.", { store: memory() }),
    );
    expect(result).toMatchObject({ status: "done", text: "Looking. Found it.", stopReason: "end", turns: 1 });
    const parts = [{ type: "text", text: "Looking. " }, serverTool];
    expect(model.histories[1]).toEqual([
      { type: "user", content: "Look." },
      { type: "assistant", parts },
    ]);
    expect(result.history.at(-1)).toEqual({
      type: "assistant",
      parts: [...parts, found, { type: "text", text: "Found it." }],
    });
    expect(types(facts)).toContain("message_partial");
  });

  it("is continued ten times at most, and never ends as done", async () => {
    const model = createPausing([
      { type: "text", text: "." },
      serverTool,
      { type: "finish", reason: "pause" },
    ]);
    const result = await run(defineAgent({ name: "a", model }), "Look.", { store: memory() });
    expect(model.histories).toHaveLength(11);
    expect(result).toMatchObject({
      ...{ status: "limit", stopReason: "pause", error: { code: "answer_incomplete" } },
      text: ".".repeat(11),
    });
    const last = result.history.at(-1);
    expect(last?.type === "assistant" && getText(last)).toBe(".".repeat(11));
  });
});
