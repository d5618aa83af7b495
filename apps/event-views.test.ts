// The apps as `npm start` serves them, with the offline model: each in its own vocabulary.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type ListeningServer, listen } from "@capstan/server";
import { type Client, createClient, type ViewEvent } from "capstan/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "capstan-apps-"));
let client: Client;
let listening: ListeningServer;
let close: (() => unknown) | undefined;

beforeAll(async () => {
  vi.stubEnv("CAPSTAN_HOME", folder);
  vi.stubEnv("CAPSTAN_MODEL", "offline");
  const { default: config } = await import("./capstan.config.ts");
  const { agents = [], eventViews = {} } = config;
  ({ close } = config);
  listening = await listen(createServer({ agents, eventViews }), { port: 0 });
  client = createClient({ baseURL: listening.url });
});
afterAll(async () => {
  await listening.close(0);
  await close?.();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function readView(runId: string, view: string, after?: string): Promise<ViewEvent[]> {
  const events: ViewEvent[] = [];
  const options = after === undefined ? {} : { after };
  for await (const event of client.runs.viewEvents(runId, view, options)) events.push(event);
  return events;
}

describe("the apps of `npm start` serve the names of their seeds", () => {
  it.each([
    {
      agent: "airport",
      input: "Where is Gate D15?",
      view: "messages",
      names: ["user_input", "tool_calls", "tool_results", "assistant_response"],
    },
    {
      agent: "files",
      input: "What's in sample.txt?",
      view: "chat",
      names: ["tool_call_start", "tool_call_result", "content_delta", "done"],
    },
    {
      agent: "graph",
      input: "How many nodes are there?",
      view: "ai-events",
      names: ["ai-stage", "ai-turn-start", "ai-processing-tool-results", "ai-result"],
    },
    {
      agent: "knowledge",
      input: "What is hono?",
      view: "trace",
      names: [
        "run_start",
        "turn_start",
        "llm_call_end",
        "tool_call_start",
        "tool_call_end",
        "turn_end",
        "run_end",
      ],
    },
    { agent: "knowledge", input: "What is hono?", view: "reasoning-steps", names: ["reasoning_step"] },
    {
      agent: "bridge",
      input: "How many miles are 42 km?",
      view: "log",
      names: ["info", "reasoning", "toolCall", "toolResult", "result"],
    },
  ])("$agent: $view, also from the middle (C-15)", async ({ agent, input, view, names }) => {
    const { runId } = await client.runs.start({ agent, input });
    for await (const _ of client.runs.events(runId));
    const events = await readView(runId, view);
    expect([...new Set(events.map(({ event }) => event))].sort()).toEqual([...names].sort());
    const middle = Math.floor(events.length / 2);
    expect(await readView(runId, view, events[middle]?.id)).toEqual(events.slice(middle + 1));
  });
});
