import { encodeAnthropic } from "./anthropic.ts";
import { encodeChat } from "./chat.ts";
import { encodeGemini } from "./gemini.ts";
import { encodeResponses } from "./responses.ts";
import type { Answer } from "./script.ts";

export type WireName = "chat" | "responses" | "anthropic" | "gemini";

/** Encodes one answer as server-sent events, with the fields of the real API. */
export type Encode = (answer: Answer) => string[];

export const wires: Readonly<Record<WireName, Encode>> = {
  chat: encodeChat,
  responses: encodeResponses,
  anthropic: encodeAnthropic,
  gemini: encodeGemini,
};
