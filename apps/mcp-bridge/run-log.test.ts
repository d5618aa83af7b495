import { createServer, type ListeningServer, listen } from "@capstan/server";
import { defineTool, type PolicyOverrides } from "capstan";
import { createClient, type ViewEvent } from "capstan/client";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { bridge } from "./agent.ts";
import { runLog } from "./run-log.ts";
import { formatTextCall } from "./testing/text-call.ts";

let listening: ListeningServer;
afterEach(() => listening.close(0));

const convert = defineTool({
  name: "convert",
  description: "Converts kilometres to miles.",
  input: { km: { type: "number" } },
  effects: "none",
  reads: ["public"],
  execute: ({ km = 0 }) => `${(km * 0.621).toFixed(1)} miles`,
});
const broken = defineTool({
  ...{ name: "broken", description: "Fails.", input: {}, effects: "none" },
  execute() {
    throw new Error("out of order");
  },
});

/** Serves the bridge with a scripted model, asks, and reads the log of the run. */
async function ask(steps: ScriptedStep[], policy: PolicyOverrides = {}) {
  const agent = await bridge({ model: scriptedModel(steps), mcp: { tools: [convert, broken] }, web: false });
  const server = createServer({
    agents: [agent],
    eventViews: { log: runLog },
    policy: { retry: { maxAttempts: 2, baseMs: 1, factor: "linear" }, ...policy },
  });
  listening = await listen(server, { port: 0 });
  const client = createClient({ baseURL: listening.url });
  const { runId, sessionId } = await client.runs.start({ input: "How many miles are 42 km?" });
  async function read(after?: string): Promise<ViewEvent[]> {
    const events: ViewEvent[] = [];
    const options = after === undefined ? {} : { after };
    for await (const event of client.runs.viewEvents(runId, "log", options)) events.push(event);
    return events;
  }
  return { sessionId, read, events: await read() };
}

const converting: ScriptedStep[] = [
  { text: `[Thinking: Kilometres to miles.]\n${formatTextCall("convert", { km: 42 })}` },
  { text: "42 km are 26.1 miles." },
];

describe("GET /api/runs/{runId}/events?events=log", () => {
  it("logs the start, each turn, reasoning, calls and results, and ends with the structured result (S4-12, S4-13, S4-15, S4-51, S4-62)", async () => {
    const { events, sessionId } = await ask(converting);
    expect(events.map(({ event, data }) => ({ [event]: data }))).toEqual([
      { info: { message: `Starting agentic loop for session ${sessionId}` } },
      { info: { message: "Turn 1/10" } },
      { reasoning: { turn: 1, text: "Kilometres to miles." } },
      { info: { message: "Detected 1 tool call" } },
      { toolCall: { tool: "convert", args: { km: 42 } } },
      { toolResult: { tool: "convert", status: "success", content: "26.1 miles" } },
      { info: { message: "Turn 2/10" } },
      { info: { message: "Final output generated" } },
      {
        result: {
          finalOutput: "42 km are 26.1 miles.",
          status: "done",
          reasoningSteps: ["Kilometres to miles."],
          toolCallHistory: [{ tool: "convert", args: { km: 42 }, status: "success", content: "26.1 miles" }],
          usage: expect.objectContaining({ inputTokens: expect.any(Number) }),
          sessionId,
        },
      },
    ]);
  });

  it("continues in the middle, with everything that came before in the result", async () => {
    const { events, read } = await ask(converting);
    for (const index of [2, 4, 7]) expect(await read(events[index]?.id)).toEqual(events.slice(index + 1));
  });

  it("logs a failed tool with its attempts, and that all of them failed (S4-16, S4-17, S4-36)", async () => {
    const { events } = await ask([{ text: formatTextCall("broken", {}) }, { text: "About 26." }]);
    expect(events.filter(({ event }) => event === "error").map(({ data }) => data)).toEqual([
      { message: "Tool broken failed after 2 attempts" },
      { message: "All tools failed, answering from the model's knowledge" },
    ]);
    expect(events.at(-1)?.data).toMatchObject({ finalOutput: "About 26." });
  });

  it("logs that the turns are used up (S4-20)", async () => {
    const steps = [1, 2].map((km) => ({ text: formatTextCall("convert", { km }) }));
    const { events } = await ask(steps, { maxTurns: 2 });
    expect(events.map(({ data }) => data)).toContainEqual({ message: "Max turns (2) exceeded" });
    expect(events.at(-1)?.data).toMatchObject({ status: "limit" });
  });
});
