import {
  agent,
  client,
  methods,
  type SessionNotification,
  type SessionUpdate,
  type ToolCall,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { agentTool, defineAgent, defineTool, type Event, isFact, type Result, run } from "capstan";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { collectAgentText } from "../testing/acp-editor.ts";
import { buildCallContent, formatCallTitle } from "./call-shape.ts";
import { createSessionUpdates, toStopReason } from "./session-updates.ts";

const words = fc.string({ unit: "grapheme", maxLength: 30 });
/** Also what looks like the framing of the protocol, or would be drawn. */
const text = fc.oneof(
  words,
  fc.constantFrom(
    '\n{"jsonrpc":"2.0","id":1,"result":{}}\n',
    "```\n![x](http://e.example)",
    "\u2028\r\n",
    "\ud800",
  ),
);
const call = fc.record({
  name: fc.constantFrom("look_up", "fail", "ask_other", "unknown", "edit_file", "[x](http://e.example)"),
  input: fc.dictionary(fc.constantFrom("a", "path", "prompt"), text, { maxKeys: 3 }),
});
const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  fc.record({
    text,
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    split: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ reasoning: text, text, calls: fc.constant([{ name: "look_up", input: {} }]) }),
);
const script = fc.array(step, { maxLength: 4 }).map((steps) => [...steps, { text: "That is all." }]);

async function played(steps: readonly ScriptedStep[]): Promise<{ events: Event[]; result: Result }> {
  const input = { type: "object" } as const;
  const look = defineTool({
    ...{ name: "look_up", description: "Looks", input, effects: "none" },
    execute: (given) => ({ content: `found ${JSON.stringify(given)}`, data: given }),
  });
  const fail = defineTool({
    ...{ name: "fail", description: "Fails", input, effects: "none" },
    execute: () => ({ error: "It failed.", retryable: false }),
  });
  const inner = scriptedModel((_, index) =>
    index % 2 === 0 ? { calls: [{ name: "look_up" }] } : { text: "inside" },
  );
  const other = agentTool(defineAgent({ name: "other", model: inner, tools: [look] }), {
    ...{ name: "ask_other", description: "Asks" },
  });
  const helper = defineAgent({
    name: "helper",
    model: scriptedModel([...steps]),
    tools: [look, fail, other],
  });
  const events: Event[] = [];
  const result = await run(helper, "Go.", { hooks: { onEvent: (event) => void events.push(event) } });
  return { events, result };
}

/** What the SDK's client makes of them: one that its schemas refuse does not arrive. */
async function received(updates: readonly SessionUpdate[]): Promise<SessionUpdate[]> {
  const told: SessionNotification[] = [];
  const editor = client().onNotification(
    methods.client.session.update,
    ({ params }) => void told.push(params),
  );
  await agent().connectWith(editor, async (context) => {
    for (const update of updates)
      await context.notify(methods.client.session.update, { sessionId: "s", update });
    await new Promise(setImmediate);
  });
  return told.map(({ update }) => update);
}

function callsIn(updates: readonly SessionUpdate[]): Map<string, ToolCall & ToolCallUpdate> {
  const calls = new Map<string, ToolCall & ToolCallUpdate>();
  for (const { sessionUpdate, ...fields } of updates)
    if (sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update") {
      const one = fields as ToolCall & ToolCallUpdate;
      if (sessionUpdate === "tool_call") expect(calls.has(one.toolCallId)).toBe(false);
      else expect(calls.has(one.toolCallId)).toBe(true);
      calls.set(one.toolCallId, { ...calls.get(one.toolCallId), ...one });
    }
  return calls;
}

it("the updates of any run are valid for the SDK, and read back to the same text and calls, live and loaded", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const { events, result } = await played(steps);
      const live = createSessionUpdates("/work");
      const loaded = createSessionUpdates("/work");
      const updates = events.flatMap((event) => live.fromEvent(event));
      const replayed = events.filter(isFact).flatMap((fact) => loaded.fromStoredFact(fact));
      const said = result.history
        .flatMap((entry) => (entry.type === "assistant" ? entry.parts : []))
        .map((part) => (part.type === "text" ? part.text : ""))
        .join("");
      for (const told of [updates, replayed]) {
        const heard = await received(told);
        expect(heard).toEqual(JSON.parse(JSON.stringify(told)));
        expect(collectAgentText(heard)).toBe(said);
        const calls = callsIn(heard);
        for (const { id, name, status } of result.toolCalls)
          expect(calls.get(id)).toMatchObject({ name, status: status === "ok" ? "completed" : "failed" });
        for (const one of calls.values()) expect(one.status).toMatch(/completed|failed/);
      }
      expect(replayed[0]).toMatchObject({ sessionUpdate: "user_message_chunk", content: { text: "Go." } });
      expect([...callsIn(updates)]).toEqual([...callsIn(replayed)]);
    }),
    { numRuns: 60 },
  );
});

it("a restarted message has another id, and only its last version is its text", () => {
  const at = { runId: "r", sessionId: "s", agent: "a", turn: 1 };
  const updates = createSessionUpdates("/work");
  const told = (
    [
      { type: "content_delta", delta: "Hal" },
      { type: "message_restart", reason: "cut off" },
      { type: "content_delta", delta: "Hello" },
    ] as const
  ).flatMap((body) => updates.fromEvent({ ...body, ...at }));
  expect(told).toMatchObject([
    { content: { text: "Hal" }, messageId: "r-1" },
    { content: { text: "Hello" }, messageId: "r-1-1" },
  ]);
});

it("text of a model that was replaced, or of a process that stopped, is not continued", () => {
  const at = { runId: "r", sessionId: "s", agent: "a", turn: 1, at: 0, id: "f" };
  const updates = createSessionUpdates("/work");
  const facts = [
    { type: "content_delta", delta: "One" },
    { type: "message_restart", reason: "stream_truncated" },
    { type: "model_failed", seq: 2 },
    { type: "turn_start", seq: 3 },
    { type: "content_delta", delta: "Two" },
    { type: "recovered", seq: 4 },
    { type: "turn_start", seq: 5 },
    { type: "content_delta", delta: "Three" },
  ];
  const told = facts.flatMap((body) => updates.fromEvent({ ...at, ...body } as Event));
  expect(told.map((update) => "messageId" in update && update.messageId)).toEqual(["r-1", "r-1-1", "r-1-2"]);
});

it("titles and results render no untrusted markup, and paths outside the folder are not opened", () => {
  const title = formatCallTitle("[x](http://e.example)", { a: "`![y](z)`\u001b[2J" });
  expect(title).toBe("_x_http_e.example_ `'![y](z)'`");
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-- old\n+new\n\\ No newline at end of file\n";
  const hint = (path: string) => ({ kind: "diff", props: { path, diff } });
  expect(buildCallContent("ok", hint("x"), "/work")).toEqual([
    { type: "diff", path: "/work/x", oldText: "same\n- old\n", newText: "same\nnew" },
  ]);
  expect(buildCallContent("ok", hint("../x"), "/work")).toMatchObject([{ type: "content" }]);
});

it("every end of a run has its stop reason, or is an error", () => {
  const error = (code: string) => ({ code, message: "", retryable: false });
  expect(toStopReason({ status: "done" })).toBe("end_turn");
  expect(toStopReason({ status: "limit", error: error("output_truncated") })).toBe("max_tokens");
  expect(toStopReason({ status: "limit", error: error("max_turns") })).toBe("max_turn_requests");
  expect(toStopReason({ status: "limit", error: error("budget_tokens") })).toBe("max_tokens");
  expect(toStopReason({ status: "failed", error: error("content_filter") })).toBe("refusal");
  expect(toStopReason({ status: "cancelled" })).toBe("cancelled");
  expect(toStopReason({ status: "failed", error: error("model_auth") })).toBeUndefined();
});
