import { createServer, type ListeningServer, listen } from "@capstan/server";
import { type Agent, defineAgent, defineTool, type PolicyOverrides } from "capstan";
import { createClient } from "capstan/client";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { reasoningSteps, trace } from "./trace-names.ts";

let listening: ListeningServer | undefined;
afterEach(() => listening?.close(0));

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { query: { type: "string" } },
  effects: "none",
  execute: ({ query }) => ({ message: "One found.", data: { found: query } }),
});
const looking: ScriptedStep = { text: "I look.", calls: [{ name: "look", input: { query: "a" } }] };

function createMain(steps: ScriptedStep[], policy: PolicyOverrides = {}): Agent {
  const helper = defineAgent({ name: "helper", model: scriptedModel([{ text: "Here." }]) });
  return defineAgent({
    name: "main",
    model: scriptedModel(steps),
    tools: [look],
    handoffs: [helper],
    policy,
  });
}

/** Runs the agent on a server and reads one of its views. */
async function readView(agent: Agent, view: "trace" | "reasoning-steps") {
  const server = createServer({ agents: [agent], eventViews: { trace, "reasoning-steps": reasoningSteps } });
  listening = await listen(server, { port: 0 });
  const client = createClient({ baseURL: listening.url });
  const { runId } = await client.runs.start({ input: "Go." });
  const events: { readonly event: string; readonly data: unknown }[] = [];
  for await (const { event, data } of client.runs.viewEvents(runId, view)) events.push({ event, data });
  return events;
}

describe("GET /api/runs/{runId}/events?events=trace", () => {
  it("has one entry per event, in order, under the names of enterprise search (C-15, S3-16)", async () => {
    const agent = createMain([looking, { text: "Found.", split: 2 }]);
    const model = { agentName: "main", model: "scripted" };
    expect(await readView(agent, "trace")).toEqual([
      { event: "run_start", data: { runId: expect.any(String) } },
      { event: "turn_start", data: { turn: 1, agentName: "main" } },
      { event: "llm_call_end", data: { ...model, content: "I look.", toolCalls: ["look"] } },
      { event: "tool_call_start", data: { toolName: "look", args: { query: "a" } } },
      { event: "tool_call_end", data: { toolName: "look", status: "ok" } },
      { event: "turn_end", data: { turn: 1, agentName: "main" } },
      { event: "turn_start", data: { turn: 2, agentName: "main" } },
      { event: "llm_call_end", data: { ...model, content: "Found.", toolCalls: [] } },
      { event: "turn_end", data: { turn: 2, agentName: "main" } },
      { event: "run_end", data: { status: "done" } },
    ]);
  });

  it("includes handoffs, returns and denials (C-15, S3-57)", async () => {
    const handing = (agent: string): ScriptedStep => ({ calls: [{ name: "handoff", input: { agent } }] });
    const agent = createMain([handing("nobody"), handing("helper"), { text: "Done." }]);
    const events = await readView(agent, "trace");
    expect(events.filter(({ event }) => event.startsWith("handoff"))).toEqual([
      { event: "handoff_denied", data: { to: "nobody", reason: expect.any(String) } },
      { event: "handoff", data: { from: "main", to: "helper" } },
      { event: "handoff", data: { from: "helper", to: "main" } },
    ]);
  });

  it("names the turn limit MaxTurnsExceeded, and other errors by their code (C-15, S3-40)", async () => {
    const limited = createMain([looking, looking], { maxTurns: 2, finalTurn: "keep-tools" });
    const isError = ({ event }: { readonly event: string }) => event === "error";
    expect((await readView(limited, "trace")).filter(isError)).toMatchObject([
      { data: { name: "MaxTurnsExceeded" } },
    ]);
    await listening?.close(0);
    const failed = await readView(createMain([{ error: "model_rejected" }]), "trace");
    expect(failed.slice(-2)).toMatchObject([
      { event: "error", data: { name: "model_rejected" } },
      { event: "run_end", data: { status: "failed" } },
    ]);
  });
});

describe("GET /api/runs/{runId}/events?events=reasoning-steps", () => {
  it("has a type, the iteration, details and summaries (C-15, S3-46, S3-48)", async () => {
    const steps = [looking, { text: "It looked." }, { text: "Found." }, { text: "It answered." }];
    const events = await readView(createMain(steps, { summaries: true }), "reasoning-steps");
    expect(events.every(({ event }) => event === "reasoning_step")).toBe(true);
    expect(events.map(({ data }) => data)).toEqual([
      { type: "Iteration", iteration: 1, stepSummary: "Turn 1 of 10" },
      { type: "Note", iteration: 1, details: "I look." },
      { type: "ToolExecuting", iteration: 1, details: '{"query":"a"}', stepSummary: "look" },
      {
        type: "ToolResult",
        iteration: 1,
        details: expect.stringContaining("One found."),
        stepSummary: "look: One found.",
      },
      { type: "Iteration", iteration: 1, aiGeneratedSummary: "It looked." },
      { type: "Iteration", iteration: 2, stepSummary: "Turn 2 of 10" },
      { type: "Synthesis", iteration: 2, details: "Found." },
      { type: "Iteration", iteration: 2, aiGeneratedSummary: "It answered." },
    ]);
  });
});
