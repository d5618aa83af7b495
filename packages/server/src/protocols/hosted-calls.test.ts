import { defineAgent, type Event, hostedTools, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { buildToolView } from "../views/agent-view.ts";
import { createAgUiEncoder } from "./ag-ui/ag-ui-encoder.ts";
import { createUiMessageStream } from "./ai-sdk/ui-message-stream.ts";
import { chatEvents } from "./chat/chat-events.ts";
import { createClientAgent } from "./client-agent.ts";
import { listClientTools } from "./responses/segments.ts";

async function collectEvents(): Promise<Event[]> {
  const outcome = { isError: false, text: "https://a.example" };
  const hosted = [{ id: "ws_1", kind: "webSearch", input: { query: "tides" }, outcome }] as const;
  const model = scriptedModel([{ hosted, text: "At 6:40." }]);
  const events: Event[] = [];
  const agent = defineAgent({ name: "a", model, tools: [hostedTools.webSearch()] });
  for await (const event of run(agent, "When?")) events.push(event);
  return events;
}

it("a hosted call reaches clients of every protocol, once, with its result", async () => {
  const events = await collectEvents();
  const toChat = chatEvents();
  expect(events.flatMap(toChat).map(({ event, data }) => [event, data])).toEqual([
    ["content_delta", { delta: "At 6:40." }],
    ["tool_call_start", { id: "ws_1", name: "web_search", arguments: { query: "tides" } }],
    ["tool_call_result", { id: "ws_1", result: "https://a.example", is_error: false }],
    ["done", {}],
  ]);
  const sets = { shown: new Set<string>(), answered: new Set<string>(), clientTools: new Set<string>() };
  const agUi = createAgUiEncoder("r", { isNested: false, ...sets });
  const calls = events
    .flatMap((event) => agUi.encode(event))
    .filter(({ type }) => type.startsWith("TOOL_CALL"));
  expect(calls.map(({ type, delta, content }) => [type, delta ?? content])).toEqual([
    ["TOOL_CALL_START", undefined],
    ["TOOL_CALL_ARGS", '{"query":"tides"}'],
    ["TOOL_CALL_END", undefined],
    ["TOOL_CALL_RESULT", "https://a.example"],
  ]);
  const ui = createUiMessageStream({ runId: "r", sessionId: "s" });
  const parts = events
    .flatMap((event) => ui.encode(event))
    .filter(({ type }) => String(type).startsWith("tool-"));
  expect(parts.map(({ type }) => type)).toEqual([
    ...["tool-input-start", "tool-input-delta", "tool-input-available", "tool-output-available"],
  ]);
});

it("a hosted tool is the provider's to run: a client neither runs it nor takes it away", () => {
  const agent = defineAgent({ name: "a", model: scriptedModel([]), tools: [hostedTools.webSearch()] });
  const withClientTools = createClientAgent(agent, { tools: [{ name: "weather" }] });
  expect([...withClientTools.tools.keys()]).toEqual(["web_search", "weather"]);
  expect(withClientTools.specs.map(({ name }) => name)).toEqual(["weather"]);
  expect(withClientTools.hosted).toEqual(agent.hosted);
  expect(listClientTools(withClientTools)).toEqual(new Set(["weather"]));
  for (const tool of agent.tools.values()) expect(buildToolView(tool).isClientSide).toBe(false);
});
