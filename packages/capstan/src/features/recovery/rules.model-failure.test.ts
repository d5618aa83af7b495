import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../base/errors.ts";
import { defineAgent, indexAgents } from "../../kernel/agent.ts";
import { defineTool } from "../../kernel/tool.ts";
import { decide } from "../../runtime/decide.ts";
import { fold } from "../../runtime/facts.ts";
import { resume, run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: () => "Seen.",
});
const options = () => ({
  store: memory(),
  session: "s",
  runId: "r",
  clock: fakeClock({ skipUpToMs: 30_000 }),
});
const createFailingModel = (id: string, error: ErrorCode = "model_failed") =>
  scriptedModel(() => ({ error }), { id });

describe("a model that fails", () => {
  it("is called three times, then the run fails with a text and the reason (S1-31, F20)", async () => {
    const model = createFailingModel("a");
    const { facts, result } = await collect(run(defineAgent({ name: "helper", model }), "Go.", options()));
    expect(model.requests).toHaveLength(3);
    expect(facts.map(({ type }) => type)).toEqual([
      "run_start",
      "turn_start",
      "model_failed",
      "turn_end",
      "error",
      "done",
    ]);
    expect(result).toMatchObject({
      status: "failed",
      text: "The model could not answer: Scripted: model_failed.",
      error: { code: "model_failed", message: "Scripted: model_failed." },
    });
  });

  it("is called once when another attempt cannot help", async () => {
    const model = createFailingModel("a", "content_filter");
    await run(defineAgent({ name: "helper", model }), "Go.", options());
    expect(model.requests).toHaveLength(1);
  });

  it.each<[ErrorCode, boolean]>([
    ["model_failed", true],
    ["model_timeout", true],
    ["content_filter", false],
  ])("reports in the result and in the error fact whether a later attempt may succeed: %s, %s", async (code, retryable) => {
    const agent = defineAgent({ name: "helper", model: createFailingModel("a", code) });
    const { facts, result } = await collect(run(agent, "Go.", options()));
    expect(facts.find(({ type }) => type === "error")).toMatchObject({ code, retryable });
    expect(result.error).toMatchObject({ code, retryable });
  });

  it("includes the tool results in the text", async () => {
    const model = scriptedModel((_request, n) =>
      n === 0 ? { calls: [{ name: "look" }] } : { error: "model_failed" },
    );
    const result = await run(defineAgent({ name: "helper", model, tools: [look] }), "Go.", options());
    expect(result).toMatchObject({ status: "failed", turns: 2 });
    expect(result.text).toBe(
      "The model could not answer: Scripted: model_failed.\n\nWhat I found so far:\n- Used look: Seen.",
    );
  });

  it("adds nothing to the history (S3-63)", async () => {
    const result = await run(
      defineAgent({ name: "helper", model: createFailingModel("a") }),
      "Go.",
      options(),
    );
    expect(result.history).toEqual([{ type: "user", content: "Go." }]);
  });
});

describe("a chain of models", () => {
  it("calls the next model in the same turn, with the same tools and notes (F38)", async () => {
    const second = scriptedModel([{ text: "From b." }], { id: "b" });
    const agent = defineAgent({
      name: "helper",
      model: [createFailingModel("a"), second],
      tools: [look],
      policy: { maxTurns: 2 },
    });
    const { facts, result } = await collect(run(agent, "Go.", options()));
    expect(result).toMatchObject({ status: "done", text: "From b.", turns: 1 });
    expect(facts.filter(({ type }) => type === "turn_start")).toHaveLength(1);
    expect(facts.find(({ type }) => type === "message")).toMatchObject({ model: "b" });
    expect(second.requests[0]).toMatchObject({
      tools: [{ name: "look" }],
      instructions: expect.stringContaining("you have 1 turn left"),
    });
  });

  it("starts with the first model again in the next turn", async () => {
    const first = scriptedModel((_request, n) => (n < 3 ? { error: "model_failed" } : { text: "From a." }));
    const second = scriptedModel([{ calls: [{ name: "look" }] }], { id: "b" });
    const agent = defineAgent({ name: "helper", model: [first, second], tools: [look] });
    expect(await run(agent, "Go.", options())).toMatchObject({ status: "done", text: "From a.", turns: 2 });
  });

  it("fails with the error of the last model", async () => {
    const agent = defineAgent({
      name: "helper",
      model: [createFailingModel("a"), createFailingModel("b", "content_filter")],
    });
    const { facts, result } = await collect(run(agent, "Go.", options()));
    expect(
      facts.flatMap((fact) => (fact.type === "model_failed" ? [[fact.model, fact.candidate]] : [])),
    ).toEqual([
      ["a", 0],
      ["b", 1],
    ]);
    expect(result).toMatchObject({ status: "failed", error: { code: "content_filter" } });
  });
});

describe("after a crash in a model call", () => {
  it("the same model is called again in the same turn", async () => {
    const agentFor = () =>
      defineAgent({ name: "helper", model: scriptedModel([{ text: "Yes." }]), tools: [look] });
    const { facts } = await collect(run(agentFor(), "Go.", options()));
    const begun = facts.slice(0, 2);
    expect(begun.map(({ type }) => type)).toEqual(["run_start", "turn_start"]);
    expect(decide(indexAgents(agentFor()), fold("s", begun))).toMatchObject({
      effects: [
        { type: "model", id: "turn.1.0", turn: 1, candidate: 0, hasMoreRoom: false, tools: "offered" },
      ],
    });
    expect(await resume(agentFor(), begun)).toMatchObject({ status: "done", text: "Yes.", turns: 1 });
  });

  it("a model that had already failed is not called again", async () => {
    const agentFor = () =>
      defineAgent({
        name: "helper",
        model: [createFailingModel("a"), scriptedModel([{ text: "Yes." }], { id: "b" })],
      });
    const { facts } = await collect(run(agentFor(), "Go.", options()));
    const given = facts.slice(0, facts.findIndex(({ type }) => type === "model_failed") + 1);
    expect(decide(indexAgents(agentFor()), fold("s", given))).toMatchObject({
      effects: [{ type: "model", id: "turn.1.1", candidate: 1 }],
    });
  });
});
