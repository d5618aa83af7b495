import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, type Result, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, scriptedModel } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import { graph } from "./agent.ts";
import { type AiEvent, type AiState, aiEvents, executionResult, idleAi, nextAiEvents } from "./ai-events.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-ai-events-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function eventsOfRun(): Promise<Event[]> {
  const model = scriptedModel([
    {
      calls: [
        { name: "findNodes", input: { selector: "type == 'cat'" } },
        { name: "styleNodes", input: { selector: "type == 'cat'", color: "blurple" } },
      ],
    },
    { calls: [{ name: "styleNodes", input: { selector: "type == 'cat'", color: "blue" } }] },
    { text: "Done." },
  ]);
  const agent = await graph({ model, folder });
  return (await collect(run(agent, "Make the cats blurple", { store: memory() }))).events;
}

const withoutStages = (events: readonly AiEvent[]) => events.filter(({ type }) => type !== "ai-stage");

describe("the events of an AI controller", () => {
  it("tell each turn that follows tools, with its number and how much the model reads, and the results (S2-20, S2-21, C-15)", async () => {
    expect(withoutStages(aiEvents(await eventsOfRun()))).toEqual([
      { type: "ai-turn-start", turnNumber: 2, messageCount: 4 },
      {
        type: "ai-processing-tool-results",
        toolResults: [
          { name: "findNodes", success: true },
          { name: "styleNodes", success: false },
        ],
      },
      { type: "ai-turn-start", turnNumber: 3, messageCount: 6 },
      { type: "ai-processing-tool-results", toolResults: [{ name: "styleNodes", success: true }] },
    ]);
  });

  it("tell each change of stage, in order and once (S2-18, S2-19, C-15)", async () => {
    const stages = aiEvents(await eventsOfRun()).flatMap((event) =>
      event.type === "ai-stage" ? [event.stage] : [],
    );
    expect(stages).toEqual([
      "submitted",
      ...["streaming", "executing", "processing"],
      ...["streaming", "executing", "processing"],
      ...["streaming", "complete"],
    ]);
  });

  it("come out the same one at a time, while the run is on (S2-62, C-15)", async () => {
    const events = await eventsOfRun();
    let state: AiState = idleAi;
    const told = events.flatMap((event) => {
      const next = nextAiEvents(state, event);
      state = next.state;
      return next.events;
    });
    expect(told).toEqual(aiEvents(events));
    expect(state.stage).toBe("complete");
  });

  it("say nothing of an agent that works inside a call (C-15)", async () => {
    const nested = (await eventsOfRun()).map((event): Event => ({ ...event, parentRunId: "run_outer" }));
    expect(aiEvents(nested)).toEqual([]);
  });

  it("begin anew with the next run: results of the last one are not told again (S2-21)", async () => {
    const events = await eventsOfRun();
    const cut = events.findLastIndex(({ type }) => type === "tool_call_result") + 1;
    const told = withoutStages(aiEvents([...events.slice(0, cut), ...(await eventsOfRun())]));
    expect(told.filter(({ type }) => type === "ai-turn-start")).toHaveLength(3);
  });
});

describe("the end of a run", () => {
  const ended = { text: "", affected: [] } as Partial<Result>;

  it("has a message even when the model said nothing (S2-12)", () => {
    expect(executionResult({ ...ended, status: "done" } as Result)).toEqual({
      success: true,
      message: "No response",
      llmText: "",
      affectedNodes: [],
      affectedEdges: [],
    });
  });

  it("names each affected node and edge once (S2-15)", () => {
    const affected = [{ nodes: ["a", "b"] }, { nodes: ["b"], edges: ["e1"] }, null];
    const result = executionResult({ status: "failed", text: "No.", affected } as unknown as Result);
    expect(result).toEqual({
      success: false,
      message: "No.",
      affectedNodes: ["a", "b"],
      affectedEdges: ["e1"],
    });
  });
});
