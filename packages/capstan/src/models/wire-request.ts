import type { Entry } from "../history.ts";
import { isRecord, type Json } from "../json.ts";
import type { ModelRequest } from "../model.ts";
import type { Wire, WireSettings } from "./wire.ts";

/** The formats that providers are spoken to in. */
export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

export const wireNames: readonly WireName[] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

/** The body of a request, as the client of a provider would send it. */
export async function wireRequest(
  name: WireName,
  request: ModelRequest,
  settings: WireSettings,
): Promise<Json> {
  return JSON.parse((await wireNamed(name)).toRequest(request, settings));
}

const fields: { readonly [Name in WireName]: string } = {
  "openai-chat": "messages",
  "openai-responses": "input",
  anthropic: "messages",
  gemini: "contents",
};

/** A history alone, in the format of a provider. */
export async function wireMessages(name: WireName, history: readonly Entry[]): Promise<Json> {
  const request: ModelRequest = { instructions: "", history, tools: [], toolChoice: "none", thinking: false };
  const body = await wireRequest(name, request, { model: "", stream: true });
  return (isRecord(body) ? (body[fields[name]] as Json | undefined) : undefined) ?? [];
}

/** Loaded when it is asked for: who shows nothing of it need not have it. */
async function wireNamed(name: WireName): Promise<Wire> {
  switch (name) {
    case "openai-chat":
      return (await import("./openai-chat.ts")).openAiChat;
    case "openai-responses":
      return (await import("./openai-responses.ts")).openAiResponses;
    case "anthropic":
      return (await import("./anthropic-messages.ts")).anthropicMessages;
    case "gemini":
      return (await import("./gemini-content.ts")).geminiContent;
  }
}
