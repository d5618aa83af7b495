import type { Event } from "capstan";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type ChatEvent, chatEvents, formatSseEvent, parseSseEvent } from "./chat-events.ts";

const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1, seq: 1, at: 0 };
const createEvent = (body: object): Event => ({ ...origin, id: "f", ...body }) as Event;

it("events are one line of compact JSON after their name, and parse back to the same (S1-18, S1-20)", () => {
  const name = fc.stringMatching(/^[a-z_]{1,20}$/);
  fc.assert(
    fc.property(name, fc.jsonValue(), (type, data) => {
      const text = formatSseEvent(type, data);
      expect(text.split("\n")).toHaveLength(4);
      expect(parseSseEvent(text)).toEqual({ event: type, data: JSON.parse(JSON.stringify(data)) });
    }),
  );
  expect(formatSseEvent("error", { code: "a", message: "b\n" })).toBe(
    'event: error\ndata: {"code":"a","message":"b\\n"}\n\n',
  );
  expect(parseSseEvent(": still here\n\n")).toBeUndefined();
  expect(parseSseEvent("event: a\ndata: {")).toBeUndefined();
});

it("calls are shown in their order, each with its result, in whatever order they begin and end (S1-11)", () => {
  const ids = ["a", "b", "c", "d"];
  const orders = fc.shuffledSubarray(ids, { minLength: ids.length });
  fc.assert(
    fc.property(orders, orders, fc.nat(4), (begun, ended, together) => {
      const project = chatEvents();
      const parts = ids.map((id) => ({ type: "call", id, name: "t", input: {} }));
      const facts = [
        createEvent({ type: "message", entry: { type: "assistant", parts } }),
        ...begun
          .slice(0, together)
          .map((id) => createEvent({ type: "tool_call_start", id, name: "t", arguments: {} })),
        ...ended.flatMap((id) => [
          ...(begun.indexOf(id) >= together
            ? [createEvent({ type: "tool_call_start", id, name: "t", arguments: {} })]
            : []),
          createEvent({ type: "tool_call_result", id, name: "t", result: id, is_error: false }),
        ]),
        createEvent({ type: "done", status: "done", text: "" }),
      ];
      const shown = facts.flatMap(project).map(formatLabel);
      expect(shown).toEqual([
        ...ids.flatMap((id) => [`tool_call_start ${id}`, `tool_call_result ${id}`]),
        "done",
      ]);
    }),
  );
});

const formatLabel = ({ event: name, data }: ChatEvent) => ("id" in data ? `${name} ${data.id}` : name);

it("a call with a late result, such as a handoff, blocks no other call", () => {
  const project = chatEvents();
  const call = (id: string, name: string) => ({
    type: "message",
    entry: { type: "assistant", parts: [{ type: "call", id, name, input: { agent: "expert" } }] },
  });
  const facts = [
    call("h", "handoff"),
    { type: "turn_start" },
    call("b", "look"),
    { type: "tool_call_start", id: "b", name: "look", arguments: {} },
    { type: "tool_call_result", id: "b", name: "look", result: "Rain.", is_error: false },
    { type: "turn_start" },
    { type: "message", entry: { type: "assistant", parts: [{ type: "text", text: "It rains." }] } },
    { type: "handoff_return", callId: "h", text: "It rains." },
    { type: "done", status: "done", text: "It rains." },
  ];
  expect(facts.map(createEvent).flatMap(project).map(formatLabel)).toEqual([
    "tool_call_start b",
    "tool_call_result b",
    "content_delta",
    "tool_call_start h",
    "tool_call_result h",
    "done",
  ]);
});

it("text that a reader came too late for is made up for by its message", () => {
  const project = chatEvents();
  const message = {
    type: "message",
    entry: { type: "assistant", parts: [{ type: "text", text: "It rains." }] },
  };
  const facts = [
    { type: "content_delta", delta: "It " },
    message,
    { type: "done", status: "done", text: "It rains." },
  ];
  expect(facts.map(createEvent).flatMap(project)).toEqual([
    { event: "content_delta", data: { delta: "It " } },
    { event: "content_delta", data: { delta: "rains." } },
    { event: "done", data: {} },
  ]);
});
