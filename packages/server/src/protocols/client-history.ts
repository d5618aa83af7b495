import { AgentError, type AssistantPart, type CallPart, type Entry, type Json, type Part } from "capstan";
import { readCallId } from "./call-ids.ts";
import { type ChatCall, type ChatContent, type ChatMessage, wordsOf } from "./chat-messages.ts";

/**
 * The history that a client keeps, as entries. It is the client's word: a run that begins with results labels them
 * untrusted and private, and performs none of the calls. Calls without a result, and results without a call, are
 * refused, as every provider would. Messages are counted from 1.
 */
export function clientHistory(messages: readonly ChatMessage[]): readonly Entry[] {
  const entries: Entry[] = [];
  let round: Round = noRound;
  for (const [index, message] of messages.entries()) {
    const where = `Message ${index + 1}`;
    if (message.role === "tool") {
      round.settle(message.tool_call_id, wordsOf(message.content, where), where);
      continue;
    }
    entries.push(...round.results());
    round = noRound;
    if (message.role !== "assistant")
      entries.push({ type: "user", content: contentOf(message.content, where) });
    else {
      const calls = message.tool_calls ?? [];
      const parts = [...textParts(message.content ?? "", where), ...calls.map(callPart)];
      if (parts.length > 0) entries.push({ type: "assistant", parts });
      round = roundOf(calls);
    }
  }
  entries.push(...round.results());
  const last = messages.at(-1)?.role;
  if (last !== "user" && last !== "tool")
    throw refused("The last message must be the user's, or the result of a call.");
  return entries;
}

/** The calls of one message and what came of them. */
type Round = {
  settle(id: string, content: string, where: string): void;
  /** In the order of the calls. */
  results(): readonly Entry[];
};

const noRound: Round = roundOf([]);

function roundOf(calls: readonly ChatCall[]): Round {
  const settled = new Map<string, string>();
  const ids = new Set(calls.map(({ id }) => id));
  if (ids.size < calls.length) throw refused("Two calls of one message have the same id.");
  return {
    settle(id, content, where) {
      if (!ids.has(id) || settled.has(id))
        throw refused(`${where} is the result of "${id}", and no call before it waits for that.`);
      settled.set(id, content);
    },
    results: () =>
      calls.map(({ id, function: { name } }) => {
        const content = settled.get(id);
        if (content === undefined) throw refused(`The call "${id}" has no result behind it.`);
        return { type: "result", callId: ownId(id), name, status: "ok", content };
      }),
  };
}

/** An id that was made here carries the one that the provider knows. */
function ownId(id: string): string {
  return readCallId(id)?.callId ?? id;
}

function callPart({ id, function: { name, arguments: raw } }: ChatCall): CallPart {
  const input = parsed(raw);
  const call = { type: "call", id: ownId(id), name } as const;
  return input ? { ...call, input } : { ...call, input: {}, raw };
}

function parsed(raw: string): { readonly [key: string]: Json } | undefined {
  if (raw.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as { [key: string]: Json };
  } catch {
    return undefined; // what the model said is kept as it was
  }
  return undefined;
}

function textParts(content: ChatContent, where: string): AssistantPart[] {
  const text = wordsOf(content, where);
  return text ? [{ type: "text", text }] : [];
}

function contentOf(content: ChatContent, where: string): string | readonly Part[] {
  if (typeof content === "string") return content;
  return content.map((part): Part => {
    if (part.type === "text") return part;
    if (part.type === "image_url") return { type: "image", ...inlined(part.image_url.url, where) };
    return { type: "file", ...inlined(part.file.file_data, where) };
  });
}

/** Only what the request itself brings: nothing is fetched for a stranger, neither by us nor by a model's server. */
function inlined(url: string, where: string): { readonly mediaType: string; readonly data: string } {
  const comma = url.indexOf(",");
  const [, mediaType] =
    /^data:([\w.+-]{1,100}\/[\w.+-]{1,100});base64$/i.exec(url.slice(0, Math.max(0, comma))) ?? [];
  const data = url.slice(comma + 1);
  if (mediaType === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw refused(
      `${where} names an image or a file that is not in it: send it as \`data:<type>;base64,…\`.`,
    );
  return { mediaType, data };
}

function refused(message: string): AgentError {
  return new AgentError("invalid_input", message);
}
