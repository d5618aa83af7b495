import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type ListeningServer, listen } from "@capstan/server";
import { agentTool, defineAgent } from "capstan";
import { type Client, createClient, type ViewEvent } from "capstan/client";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { graph } from "./agent.ts";
import { aiEvents, toExecutionResult } from "./ai-events.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-ai-events-"));
afterAll(() => rmSync(folder, { recursive: true }));
let listening: ListeningServer | undefined;
afterEach(() => listening?.close(0));

const blurple: ScriptedStep[] = [
  {
    calls: [
      { name: "findNodes", input: { selector: "type == 'cat'" } },
      { name: "styleNodes", input: { selector: "type == 'cat'", color: "blurple" } },
    ],
  },
  { calls: [{ name: "styleNodes", input: { selector: "type == 'cat'", color: "blue" } }] },
  { text: "The cats are blue." },
];

/** Serves the app with a scripted model, over a socket. */
async function serve(steps: ScriptedStep[], isNested = false): Promise<Client> {
  const app = await graph({ model: scriptedModel(steps), folder });
  const asking = scriptedModel([{ calls: [{ name: "ask", input: { prompt: "?" } }] }, { text: "Done." }]);
  const tools = [agentTool(app, { name: "ask", description: "Asks." })];
  const agents = [isNested ? defineAgent({ name: "outer", model: asking, tools }) : app];
  listening = await listen(createServer({ agents, eventViews: { "ai-events": aiEvents } }), { port: 0 });
  return createClient({ baseURL: listening.url });
}

async function ask(client: Client, input: string, sessionId?: string) {
  const started = await client.runs.start({ input, ...(sessionId !== undefined && { sessionId }) });
  return { ...started, events: await collectView(client, started.runId) };
}

async function collectView(client: Client, runId: string, after?: string): Promise<ViewEvent[]> {
  const events: ViewEvent[] = [];
  const options = after === undefined ? {} : { after };
  for await (const event of client.runs.viewEvents(runId, "ai-events", options)) events.push(event);
  return events;
}

const getData = (events: readonly ViewEvent[], ...names: readonly string[]) =>
  events.flatMap(({ event, data }) => (names.includes(event) ? [{ [event]: data }] : []));

describe("GET /api/runs/{runId}/events?events=ai-events", () => {
  it("reports each turn after tool calls with its number, message count and results (S2-20, S2-21, C-15)", async () => {
    const { events } = await ask(await serve(blurple), "Make the cats blurple");
    expect(getData(events, "ai-turn-start", "ai-processing-tool-results")).toEqual([
      { "ai-turn-start": { turnNumber: 2, messageCount: 4 } },
      {
        "ai-processing-tool-results": {
          toolResults: [
            { name: "findNodes", success: true },
            { name: "styleNodes", success: false },
          ],
        },
      },
      { "ai-turn-start": { turnNumber: 3, messageCount: 6 } },
      { "ai-processing-tool-results": { toolResults: [{ name: "styleNodes", success: true }] } },
    ]);
  });

  it("reports each change of stage once, in order (S2-18, S2-19, S2-62, C-15)", async () => {
    const { events } = await ask(await serve(blurple), "Make the cats blurple");
    const stages = [
      "submitted",
      "streaming",
      "executing",
      "processing",
      "streaming",
      "executing",
      "processing",
    ];
    expect(getData(events, "ai-stage")).toEqual(
      [...stages, "streaming", "complete"].map((stage) => ({ "ai-stage": { stage } })),
    );
  });

  it("ends with the execution result: the text, and each affected element once (S2-12, S2-15)", async () => {
    const { events } = await ask(await serve(blurple), "Make the cats blurple");
    expect(events.at(-1)).toMatchObject({
      event: "ai-result",
      data: {
        success: true,
        message: "The cats are blue.",
        llmText: "The cats are blue.",
        affectedNodes: ["cat1", "cat2", "cat3"],
        affectedEdges: [],
      },
    });
  });

  it("has a message even if the answer is empty (S2-12)", () => {
    const result = toExecutionResult({ status: "done", text: "", affected: [] });
    expect(result).toMatchObject({ success: true, message: "No response", llmText: "" });
  });

  it("ends at the limit with a result that is no success (S2-16)", async () => {
    const looping: ScriptedStep[] = Array.from({ length: 6 }, (_, n) => ({
      calls: [{ name: "sampleData", input: { target: "nodes", count: n + 1 } }],
    }));
    const { events } = await ask(await serve(looping), "Sample forever");
    expect(events.at(-1)).toMatchObject({
      event: "ai-result",
      data: { success: false, message: "Maximum tool iterations reached" },
    });
    expect(getData(events, "ai-stage").at(-1)).toEqual({ "ai-stage": { stage: "error" } });
  });

  it("continues after any of its events", async () => {
    const client = await serve(blurple);
    const { runId } = await ask(client, "Make the cats blurple");
    const whole = await collectView(client, runId);
    const middle = whole.findIndex(({ event }) => event === "ai-turn-start");
    expect(await collectView(client, runId, whole[middle]?.id)).toEqual(whole.slice(middle + 1));
  });

  it("starts over with the next run of a session (S2-21)", async () => {
    const client = await serve([...blurple, { text: "You are welcome." }]);
    const { sessionId } = await ask(client, "Make the cats blurple");
    const { events } = await ask(client, "Thanks", sessionId);
    expect(getData(events, "ai-turn-start", "ai-processing-tool-results")).toEqual([]);
  });

  it("ignores nested runs (C-15)", async () => {
    const { events } = await ask(await serve(blurple, true), "Ask it");
    expect(getData(events, "ai-processing-tool-results")).toEqual([
      { "ai-processing-tool-results": { toolResults: [{ name: "ask", success: true }] } },
    ]);
  });
});
