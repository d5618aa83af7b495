import type { Answer } from "./script.ts";
import { encodeNamedEvent } from "./server-sent-events.ts";

const message = {
  model: "claude-haiku-4-5-20251001",
  id: "msg_01KMM1JxxxJ9V4C63siw3bnY",
  type: "message",
  role: "assistant",
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 120, output_tokens: 1 },
};

const toBlocks = (answer: Answer) =>
  "calls" in answer
    ? answer.calls.map(({ id, name, fragments }) => ({
        content_block: { type: "tool_use", id: id.replace("call_", "toolu_"), name, input: {} },
        deltas: fragments.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      }))
    : [
        {
          content_block: { type: "text", text: "" },
          deltas: answer.text.map((text) => ({ type: "text_delta", text })),
        },
      ];

/** Anthropic's Messages API. */
export function encodeAnthropic(answer: Answer): string[] {
  const stop_reason = "calls" in answer ? "tool_use" : "end_turn";
  return [
    { type: "message_start", message },
    ...toBlocks(answer).flatMap(({ content_block, deltas }, index) => [
      { type: "content_block_start", index, content_block },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 40 } },
    { type: "message_stop" },
  ].map(encodeNamedEvent);
}
