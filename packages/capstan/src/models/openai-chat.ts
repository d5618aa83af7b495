/*
 * OpenAI's chat completions, as OpenAI and the many servers compatible with it speak them. Streamed: one JSON object per
 * event, whose first choice has a `delta` (text, reasoning, refusal, pieces of calls told apart by `index`) and, near the
 * end, a `finish_reason`; usage in a chunk without choices; then `[DONE]`. Whole: the same with `message` for `delta`.
 */
import { isOverflow } from "./openai-chat/failure.ts";
import type { ChatQuirks } from "./openai-chat/quirks.ts";
import { chatAnswer, chatReader } from "./openai-chat/reader.ts";
import { chatRequest } from "./openai-chat/request.ts";
import type { Wire } from "./wire.ts";

export type { ChatQuirks } from "./openai-chat/quirks.ts";

/** The wire of a compatible server. */
export function chatWire(quirks: ChatQuirks): Wire {
  const { name = "openai-compatible" } = quirks;
  return {
    name,
    toRequest: chatRequest(name, quirks),
    reader: () => chatReader(name, quirks),
    fromJson: (body) => chatAnswer(body, name, quirks),
    isOverflow,
  };
}

/** OpenAI's own: a stream is whole with its finish reason and `[DONE]` only. */
export const openAiChat: Wire = chatWire({
  name: "openai-chat",
  needsDone: true,
  needsFinish: true,
  maxTokensField: "max_completion_tokens",
  outputBesideTools: true,
  brokenArguments: "text",
  specialTokens: "kept",
});
