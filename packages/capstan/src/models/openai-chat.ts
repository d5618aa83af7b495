/*
 * OpenAI chat completions, as implemented by OpenAI and compatible servers. Streamed: one JSON object per event, whose
 * first choice has a `delta` (text, reasoning, refusal, pieces of calls identified by `index`) and, near the end, a
 * `finish_reason`; usage in a chunk without choices; then `[DONE]`. Not streamed: `message` instead of `delta`.
 */
import { isChatOverflow } from "./openai-chat/failure.ts";
import { toChatMedia } from "./openai-chat/media.ts";
import type { ChatQuirks } from "./openai-chat/quirks.ts";
import { createChatReader, parseChatAnswer } from "./openai-chat/reader.ts";
import { createChatRequest } from "./openai-chat/request.ts";
import type { Wire } from "./wire.ts";

export type { ChatQuirks } from "./openai-chat/quirks.ts";

/** Creates the wire for a compatible server. */
export function createChatWire(quirks: ChatQuirks): Wire {
  const { name = "openai-compatible" } = quirks;
  return {
    name,
    toRequest: createChatRequest(name, quirks),
    reader: () => createChatReader(name, quirks),
    fromJson: (body) => parseChatAnswer(body, name, quirks),
    isOverflow: isChatOverflow,
    acceptsMedia: (part) => toChatMedia(part, quirks) !== undefined,
  };
}

/** OpenAI itself: a stream is complete only with a finish reason and `[DONE]`. */
export const openAiChat: Wire = createChatWire({
  name: "openai-chat",
  isOpenAi: true,
  needsDone: true,
  needsFinish: true,
  stableIds: true,
  maxTokensField: "max_completion_tokens",
  outputBesideTools: true,
  brokenArguments: "text",
  specialTokens: "kept",
});
