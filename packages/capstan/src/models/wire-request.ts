import { isRecord, type Json } from "../base/json.ts";
import type { Entry } from "../kernel/history.ts";
import type { ModelRequest } from "../kernel/model.ts";
import { buildWireSettings } from "./http-model.ts";
import type { Wire, WireSettings } from "./wire.ts";

/** Names of the supported provider API formats. */
export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

export const wireNames: readonly WireName[] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

/** Returns the request body as a provider's client with these settings would send it. */
export async function wireRequest(
  name: WireName,
  request: ModelRequest,
  settings: WireSettings,
): Promise<Json> {
  const merged = buildWireSettings({ settings, stream: settings.stream }, request);
  return JSON.parse((await loadWire(name)).toRequest(request, merged));
}

const historyFields: { readonly [Name in WireName]: string } = {
  "openai-chat": "messages",
  "openai-responses": "input",
  anthropic: "messages",
  gemini: "contents",
};

/** Returns only the history, in the provider's format. */
export async function wireMessages(name: WireName, history: readonly Entry[]): Promise<Json> {
  const request: ModelRequest = { instructions: "", history, tools: [], toolChoice: "none", thinking: false };
  const body = await wireRequest(name, request, { model: "", stream: true });
  return (isRecord(body) ? (body[historyFields[name]] as Json | undefined) : undefined) ?? [];
}

/** Loads the wire on demand, so that unused formats are not loaded. */
async function loadWire(name: WireName): Promise<Wire> {
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
