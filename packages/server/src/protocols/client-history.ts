import {
  AgentError,
  type AssistantPart,
  type CallPart,
  type Entry,
  type Json,
  type Part,
  type ResultEntry,
  toPlainText,
} from "capstan";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { parseCallId } from "./call-ids.ts";
import { type ChatCall, type ChatContent, type ChatMessage, joinMessageText } from "./chat-messages.ts";
import type { ClientTool } from "./client-agent.ts";
import { createClientEntry } from "./client-entry.ts";

/** What the server knows about a client that keeps its history. */
export type ClientHistoryOptions = {
  readonly caller: Caller;
  readonly deployment: Pick<Deployment, "clientProvenance" | "ephemeralRuns">;
  /** Tools that the client declares in this request, and runs. */
  readonly tools?: readonly ClientTool[];
};

/**
 * Converts a history kept by a client to entries. Only its user messages are the user's words. System messages are
 * context, and so are calls of earlier turns, and answers that this server does not remember: nothing proves that the
 * agent wrote or made them. A result is one only for a tool that the client runs. None of the calls is performed. Throws for calls without a result and
 * results without a call, as every provider would. Messages are counted from 1.
 */
export function readClientHistory(
  messages: readonly ChatMessage[],
  options: ClientHistoryOptions,
): readonly Entry[] {
  const entries: Entry[] = [];
  let calls = createCallTracker([], options);
  for (const [index, message] of messages.entries()) {
    const where = `Message ${index + 1}`;
    if (message.role === "tool") {
      calls.settle(message, where);
      continue;
    }
    entries.push(...calls.getEntries());
    calls = createCallTracker((message.role === "assistant" && message.tool_calls) || [], options);
    if (message.role === "user")
      entries.push({ type: "user", content: toUserContent(message.content, where) });
    else if (message.role === "assistant") entries.push(...toAssistantEntries(message, where, options));
    else entries.push(...toSystemEntries(joinMessageText(message.content, where), options));
  }
  entries.push(...calls.getEntries());
  const last = messages.at(-1)?.role;
  if (last !== "user" && last !== "tool")
    throw createHistoryError("The last message must be a user message or a tool result.");
  return entries;
}

/** Admins may change the agents, so they answer for their system messages. */
function toSystemEntries(text: string, { caller, deployment }: ClientHistoryOptions): readonly Entry[] {
  const provenance = caller.isAdmin ? "operator" : deployment.clientProvenance;
  return text === "" ? [] : [createClientEntry(provenance, text)];
}

type AssistantMessage = Extract<ChatMessage, { readonly role: "assistant" }>;

function toAssistantEntries(
  { content, tool_calls: calls }: AssistantMessage,
  where: string,
  options: ClientHistoryOptions,
): readonly Entry[] {
  const { caller, deployment } = options;
  const own = (calls ?? []).filter((call) => isRunByClient(call, options));
  const text = joinMessageText(content ?? "", where);
  const parts = [...toTextParts(text), ...own.map(toCallPart)];
  if (parts.length === 0) return [];
  const isKnown = own.length === 0 && deployment.ephemeralRuns.hasAnswered(caller, text);
  return [{ type: "assistant", parts, provenance: isKnown ? "operator" : deployment.clientProvenance }];
}

function isRunByClient({ function: { name } }: ChatCall, { tools = [] }: ClientHistoryOptions): boolean {
  return tools.some((tool) => tool.name === name);
}

type ToolMessage = Extract<ChatMessage, { readonly role: "tool" }>;
type ClientResult = Pick<ResultEntry, "status" | "content">;

/** Matches the calls of one message with their results. */
type CallTracker = {
  settle(message: ToolMessage, where: string): void;
  /** Results of the client's tools in the order of the calls, then what the client says about other calls. */
  getEntries(): readonly Entry[];
};

function createCallTracker(calls: readonly ChatCall[], options: ClientHistoryOptions): CallTracker {
  const settled = new Map<string, ClientResult>();
  const ids = new Set(calls.map(({ id }) => id));
  if (ids.size < calls.length) throw createHistoryError("Two calls of one message have the same id.");
  function getResult({ id }: ChatCall): ClientResult {
    const result = settled.get(id);
    if (result === undefined) throw createHistoryError(`Call "${id}" has no result.`);
    return result;
  }
  return {
    settle({ tool_call_id: id, content, isError }, where) {
      if (!ids.has(id) || settled.has(id))
        throw createHistoryError(`${where} is the result of unknown call "${id}".`);
      settled.set(id, { status: isError ? "error" : "ok", content: toResultContent(content, where) });
    },
    getEntries() {
      const claims: string[] = [];
      const files: Part[] = [];
      const results = calls.flatMap((call): Entry[] => {
        const {
          id,
          function: { name, arguments: input },
        } = call;
        const result = getResult(call);
        if (isRunByClient(call, options))
          return [{ type: "result", callId: toProviderCallId(id), name, ...result }];
        claims.push(
          `The client reports a call of "${name}" with ${input || "{}"}, and this result:\n${toPlainText(result.content)}`,
        );
        if (typeof result.content !== "string")
          files.push(...result.content.filter(({ type }) => type !== "text"));
        return [];
      });
      if (claims.length === 0) return results;
      return [...results, createClientEntry(options.deployment.clientProvenance, claims.join("\n\n"), files)];
    },
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

function toTextParts(text: string): AssistantPart[] {
  return text ? [{ type: "text", text }] : [];
}

/** Converts the content of a tool result: a text, or parts if there are images or files. */
export function toResultContent(content: ChatContent, where: string): string | readonly Part[] {
  const isText = typeof content === "string" || content.every(({ type }) => type === "text");
  return isText ? joinMessageText(content, where) : toUserContent(content, where);
}

/** Converts the content of a user message. */
export function toUserContent(content: ChatContent, where: string): string | readonly Part[] {
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
