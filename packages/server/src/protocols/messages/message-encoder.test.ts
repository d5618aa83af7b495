import { MessageStream } from "@anthropic-ai/sdk/lib/MessageStream";
import type { Event, Result } from "capstan";
import fc from "fast-check";
import { expect, it } from "vitest";
import { randomScript, runRandomScript } from "../../testing/random-run.ts";
import { createMessageEncoder, type MessageEncoder } from "./message-encoder.ts";
import type { MessageEvent } from "./message-object.ts";

const createEncoder = (isFormed = false) =>
  createMessageEncoder({ id: "msg_1", model: "helper", isFormed, showsThinking: true });

function encodeRun(
  encoder: MessageEncoder,
  events: readonly Event[],
  result: Result,
): readonly MessageEvent[] {
  const ending = () => encoder.finish(result, new Set(["weather"])) ?? [];
  return [...encoder.start(), ...events.flatMap(encoder.encode), ...ending()];
}

/** Reads events like the SDK, which throws if one does not fit the earlier ones. */
async function read(events: readonly MessageEvent[]) {
  const lines = events.filter(({ type }) => type !== "ping").map((event) => `${JSON.stringify(event)}\n`);
  const { body } = new Response(lines.join(""));
  return MessageStream.fromReadableStream(body as ReadableStream).finalMessage();
}

it("encodes random runs so that the SDK reads back the whole message", async () => {
  await fc.assert(
    fc.asyncProperty(randomScript, async (script) => {
      const { events, result } = await runRandomScript(script);
      const encoder = createEncoder();
      const encoded = encodeRun(encoder, events, result);
      const message = await read(encoded);
      expect(JSON.parse(JSON.stringify(message))).toMatchObject(encoder.getMessage());
      const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
      if (result.status === "done") expect(texts.at(-1)?.trim()).toBe(result.text.trim());
      const starts = encoded.filter(({ type }) => type === "content_block_start");
      const stops = encoded.filter(({ type }) => type === "content_block_stop");
      expect(stops.map((event) => Reflect.get(event, "index"))).toEqual(starts.map((_, index) => index));
      expect(message.usage.output_tokens).toBe(result.usage.outputTokens);
    }),
    { numRuns: 60 },
  );
});

const origin = { runId: "r", sessionId: "s", agent: "helper", turn: 1 };
const toEvent = (body: object) => ({ ...origin, seq: 1, at: 1, id: "1", ...body }) as Event;
const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 3, cacheWriteTokens: 2, reasoningTokens: 1 };

it("sends each event in the form and order of the API", () => {
  const entry = {
    type: "assistant",
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Well." },
    ],
  };
  const pending = [{ callId: "c 1", name: "weather", input: { city: "Oslo" }, needs: "answer" }];
  const result = { status: "waiting", text: "", pending, runId: "run_1" } as unknown as Result;
  const [start, ...events] = encodeRun(
    createEncoder(),
    [
      toEvent({ type: "reasoning_delta", delta: "Hm." }),
      toEvent({ type: "content_delta", delta: "We" }),
      toEvent({ type: "message", entry, usage, stopReason: "tool_calls" }),
    ],
    result,
  );
  expect(start).toMatchObject({
    type: "message_start",
    message: { id: "msg_1", content: [], stop_reason: null, usage: { output_tokens: 0 } },
  });
  const call = { type: "tool_use", id: "run_1-YyAx", name: "weather", caller: { type: "direct" } };
  expect(events).toEqual([
    { type: "ping" },
    ...[
      { type: "content_block_start", content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", delta: { type: "thinking_delta", thinking: "Hm." } },
      { type: "content_block_delta", delta: { type: "signature_delta", signature: "unsigned" } },
      { type: "content_block_stop" },
    ].map((event) => ({ ...event, index: 0 })),
    ...[
      { type: "content_block_start", content_block: { type: "text", text: "", citations: null } },
      { type: "content_block_delta", delta: { type: "text_delta", text: "We" } },
      { type: "content_block_delta", delta: { type: "text_delta", text: "ll." } },
      { type: "content_block_stop" },
    ].map((event) => ({ ...event, index: 1 })),
    ...[
      { type: "content_block_start", content_block: { ...call, input: {} } },
      { type: "content_block_delta", delta: { type: "input_json_delta", partial_json: '{"city":"Oslo"}' } },
      { type: "content_block_stop" },
    ].map((event) => ({ ...event, index: 2 })),
    {
      type: "message_delta",
      delta: { container: null, stop_details: null, stop_reason: "tool_use", stop_sequence: null },
      usage: {
        ...{ input_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, output_tokens: 5 },
        ...{ output_tokens_details: { thinking_tokens: 1 }, server_tool_use: null },
        ...{ iterations: null, fallback_credit: null },
      },
    },
    { type: "message_stop" },
  ]);
});

it("has a reason for each end, and none for a failure", () => {
  const finish = (result: object) =>
    createEncoder().finish(
      { text: "It ra", pending: [], runId: "r", ...result } as unknown as Result,
      new Set(),
    );
  const getReason = (result: object) => Reflect.get(Object(finish(result)?.at(-2)), "delta")?.stop_reason;
  expect(getReason({ status: "done" })).toBe("end_turn");
  for (const code of ["output_truncated", "answer_incomplete", "budget_tokens"])
    expect(getReason({ status: "limit", error: { code } })).toBe("max_tokens");
  expect(getReason({ status: "limit", error: { code: "max_turns" } })).toBe("end_turn");
  expect(getReason({ status: "failed", error: { code: "content_filter" } })).toBe("refusal");
  expect(finish({ status: "failed", error: { code: "internal" } })).toBeUndefined();
  expect(finish({ status: "cancelled" })).toBeUndefined();
});
