import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, type Result, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, scriptedModel } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import { graph } from "./agent.ts";
import {
  type AiEvent,
  type AiState,
  initialAiState,
  projectEvent,
  toAiEvents,
  toExecutionResult,
} from "./ai-events.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-ai-events-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function runScript(): Promise<Event[]> {
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

const omitStages = (events: readonly AiEvent[]) => events.filter(({ type }) => type !== "ai-stage");

describe("the events of an AI controller", () => {
  it("report each turn after tool calls with its number, message count and results (S2-20, S2-21, C-15)", async () => {
    expect(omitStages(toAiEvents(await runScript()))).toEqual([
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

  it("report each change of stage once, in order (S2-18, S2-19, C-15)", async () => {
    const stages = toAiEvents(await runScript()).flatMap((event) =>
      event.type === "ai-stage" ? [event.stage] : [],
    );
    expect(stages).toEqual([
      "submitted",
      ...["streaming", "executing", "processing"],
      ...["streaming", "executing", "processing"],
      ...["streaming", "complete"],
    ]);
  });

  it("are the same when projected one at a time during the run (S2-62, C-15)", async () => {
    const events = await runScript();
    let state: AiState = initialAiState;
    const told = events.flatMap((event) => {
      const next = projectEvent(state, event);
      state = next.state;
      return next.events;
    });
    expect(told).toEqual(toAiEvents(events));
    expect(state.stage).toBe("complete");
  });

  it("ignore nested runs (C-15)", async () => {
    const nested = (await runScript()).map((event): Event => ({ ...event, parentRunId: "run_outer" }));
    expect(toAiEvents(nested)).toEqual([]);
  });

  it("start over with the next run, without the results of the previous one (S2-21)", async () => {
    const events = await runScript();
    const cut = events.findLastIndex(({ type }) => type === "tool_call_result") + 1;
    const told = omitStages(toAiEvents([...events.slice(0, cut), ...(await runScript())]));
    expect(told.filter(({ type }) => type === "ai-turn-start")).toHaveLength(3);
  });
});

describe("the end of a run", () => {
  const ended = { text: "", affected: [] } as Partial<Result>;

  it("has a message even if the model returned no text (S2-12)", () => {
    expect(toExecutionResult({ ...ended, status: "done" } as Result)).toEqual({
      success: true,
      message: "No response",
      llmText: "",
      affectedNodes: [],
      affectedEdges: [],
    });
  });

  it("lists each affected node and edge once (S2-15)", () => {
    const affected = [{ nodes: ["a", "b"] }, { nodes: ["b"], edges: ["e1"] }, null];
    const result = toExecutionResult({ status: "failed", text: "No.", affected } as unknown as Result);
    expect(result).toEqual({
      success: false,
      message: "No.",
      affectedNodes: ["a", "b"],
      affectedEdges: ["e1"],
    });
  });
});
