import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { nextStage, type Stage, stageOf } from "./stage.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  execute: () => "seen",
});

async function collectRunEvents(...steps: ScriptedStep[]): Promise<Event[]> {
  const agent = defineAgent({ name: "a", model: scriptedModel(steps), tools: [look] });
  return (await collect(run(agent, "Go", { clock: fakeClock({ skipUpToMs: 30_000 }) }))).events;
}

/** The stages a viewer sees, each once per stay. */
function listStages(events: readonly Event[]): Stage[] {
  const stages: Stage[] = ["idle"];
  for (const event of events) {
    const stage = nextStage(stages.at(-1) ?? "idle", event);
    if (stage !== stages.at(-1)) stages.push(stage);
  }
  return stages;
}

describe("stageOf", () => {
  it("is idle before anything happens (S2-18)", () => {
    expect(stageOf([])).toBe("idle");
  });

  it("is executing while a tool waits for the answer to its question", async () => {
    const ask: Tool = { ...look, execute: () => ({ ask: { message: "Where?" } }) };
    const model = scriptedModel([{ calls: [{ name: "look" }] }]);
    const { events, result } = await collect(run(defineAgent({ name: "a", model, tools: [ask] }), "Go"));
    expect([result.status, stageOf(events)]).toEqual(["waiting", "executing"]);
  });

  it("passes through all stages of a run with tools; `processing` follows tool results (S2-18, S2-19)", async () => {
    const events = await collectRunEvents({ calls: [{ name: "look" }] }, { text: "Done." });
    expect(listStages(events)).toEqual([
      "idle",
      "submitted",
      "streaming",
      "executing",
      "processing",
      "streaming",
      "complete",
    ]);
    expect(stageOf(events)).toBe("complete");
  });

  it("is streaming while the model produces output and executing while tools run (S2-19)", async () => {
    const events = await collectRunEvents(
      { reasoning: "Hm.", text: "Wait.", calls: [{ name: "look" }] },
      { text: "Done." },
    );
    const stageAt = (type: Event["type"]) =>
      stageOf(events.slice(0, events.findIndex((event) => event.type === type) + 1));
    expect(stageAt("reasoning_delta")).toBe("streaming");
    expect(stageAt("content_delta")).toBe("streaming");
    expect(stageAt("tool_call_delta")).toBe("streaming");
    expect(stageAt("tool_call_start")).toBe("executing");
    expect(stageAt("tool_call_result")).toBe("executing");
  });

  it("ends in error when the run fails, and only then (S2-18)", async () => {
    expect(stageOf(await collectRunEvents({ error: "content_filter" }))).toBe("error");
    expect(stageOf(await collectRunEvents({ calls: [{ name: "nothing" }] }, { text: "Done." }))).toBe(
      "complete",
    );
  });

  it("does not change with the events of a nested run (S3-58)", () => {
    const origin = { runId: "r~c", parentRunId: "r", sessionId: "s", agent: "a", turn: 1 };
    expect(nextStage("executing", { type: "content_delta", delta: "Deep.", ...origin })).toBe("executing");
    const { parentRunId: _, ...own } = origin;
    expect(nextStage("executing", { type: "content_delta", delta: "Deep.", ...own })).toBe("streaming");
  });

  it("starts again with the next run of a session", async () => {
    const events = await collectRunEvents({ text: "Done." });
    expect(stageOf([...events, ...events.slice(0, 1)])).toBe("submitted");
  });

  it("can be followed while the run is active (S2-62)", async () => {
    const seen: Stage[] = [];
    let stage: Stage = "idle";
    const model = scriptedModel([{ calls: [{ name: "spy" }] }, { text: "Done." }]);
    const spy = defineTool({
      name: "spy",
      description: "Looks at the stage",
      input: { type: "object" },
      execute: () => seen.push(stage),
    });
    await run(defineAgent({ name: "a", model, tools: [spy] }), "Go", {
      hooks: {
        onEvent(event) {
          stage = nextStage(stage, event);
        },
      },
    });
    expect([...seen, stage]).toEqual(["executing", "complete"]);
  });
});
