import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import type { Answer } from "./script.ts";

export type WireName = "chat" | "responses" | "anthropic" | "gemini";

/** The server-sent events of one answer, with the fields that real ones have. */
export type Encode = (answer: Answer) => string[];

export const wires: Readonly<Record<WireName, Encode>> = { chat, responses, anthropic, gemini };
