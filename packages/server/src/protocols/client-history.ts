import { AgentError, type AssistantPart, type CallPart, type Entry, type Json, type Part } from "capstan";
import { parseCallId } from "./call-ids.ts";
import { type ChatCall, type ChatContent, type ChatMessage, joinMessageText } from "./chat-messages.ts";

/**
 * Converts a history kept by a client to entries. It is not trusted: a run labels its results untrusted and private,
 * and performs none of its calls. Throws for calls without a result and results without a call, as every provider
 * would. Messages are counted from 1.
 */
export function readClientHistory(messages: readonly ChatMessage[]): readonly Entry[] {
  const entries: Entry[] = [];
  let calls: CallTracker = noCalls;
  for (const [index, message] of messages.entries()) {
    const where = `Message ${index + 1}`;
    if (message.role === "tool") {
      calls.settle(message.tool_call_id, joinMessageText(message.content, where), where);
      continue;
    }
    entries.push(...calls.getResults());
    calls = noCalls;
    if (message.role !== "assistant")
      entries.push({ type: "user", content: toUserContent(message.content, where) });
    else {
      const toolCalls = message.tool_calls ?? [];
      const parts = [...toTextParts(message.content ?? "", where), ...toolCalls.map(toCallPart)];
      if (parts.length > 0) entries.push({ type: "assistant", parts });
      calls = createCallTracker(toolCalls);
    }
  }
  entries.push(...calls.getResults());
  const last = messages.at(-1)?.role;
  if (last !== "user" && last !== "tool")
    throw createHistoryError("The last message must be a user message or a tool result.");
  return entries;
}

/** Matches the calls of one message with their results. */
type CallTracker = {
  settle(id: string, content: string, where: string): void;
  /** In the order of the calls. */
  getResults(): readonly Entry[];
};

const noCalls: CallTracker = createCallTracker([]);

function createCallTracker(calls: readonly ChatCall[]): CallTracker {
  const settled = new Map<string, string>();
  const ids = new Set(calls.map(({ id }) => id));
  if (ids.size < calls.length) throw createHistoryError("Two calls of one message have the same id.");
  return {
    settle(id, content, where) {
      if (!ids.has(id) || settled.has(id))
        throw createHistoryError(`${where} is the result of unknown call "${id}".`);
      settled.set(id, content);
    },
    getResults: () =>
      calls.map(({ id, function: { name } }) => {
        const content = settled.get(id);
        if (content === undefined) throw createHistoryError(`Call "${id}" has no result.`);
        return { type: "result", callId: toProviderCallId(id), name, status: "ok", content };
      }),
  };
}

/** Our call ids contain the id that the provider knows. */
function toProviderCallId(id: string): string {
  return parseCallId(id)?.callId ?? id;
}

function toCallPart({ id, function: { name, arguments: raw } }: ChatCall): CallPart {
  const input = parseCallArguments(raw);
  const call = { type: "call", id: toProviderCallId(id), name } as const;
  return input ? { ...call, input } : { ...call, input: {}, raw };
}

function parseCallArguments(raw: string): { readonly [key: string]: Json } | undefined {
  if (raw.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as { [key: string]: Json };
  } catch {
    return undefined; // keep invalid arguments as `raw`
  }
  return undefined;
}

function toTextParts(content: ChatContent, where: string): AssistantPart[] {
  const text = joinMessageText(content, where);
  return text ? [{ type: "text", text }] : [];
}

function toUserContent(content: ChatContent, where: string): string | readonly Part[] {
  if (typeof content === "string") return content;
  return content.map((part): Part => {
    if (part.type === "text") return part;
    if (part.type === "image_url") return { type: "image", ...parseDataUrl(part.image_url.url, where) };
    return { type: "file", ...parseDataUrl(part.file.file_data, where) };
  });
}

/** Accepts only inline data: untrusted URLs are never fetched, neither by the server nor by a provider. */
function parseDataUrl(url: string, where: string): { readonly mediaType: string; readonly data: string } {
  const comma = url.indexOf(",");
  const [, mediaType] =
    /^data:([\w.+-]{1,100}\/[\w.+-]{1,100});base64$/i.exec(url.slice(0, Math.max(0, comma))) ?? [];
  const data = url.slice(comma + 1);
  if (mediaType === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw createHistoryError(
      `${where} contains a URL. Send images and files inline as \`data:<type>;base64,…\`.`,
    );
  return { mediaType, data };
}

function createHistoryError(message: string): AgentError {
  return new AgentError("invalid_input", message);
}
