import type { Event, Result, TokenLogprob, Usage } from "capstan";
import { getText } from "capstan";
import { restartsMessage } from "capstan/client";
import { createClientCallId } from "../call-ids.ts";
import { getMissingText } from "../chat/chat-events.ts";
import { isCut } from "../is-cut.ts";
import { formatLogprobs } from "../openai-settings.ts";
import { findCallUsage, sumUsage } from "../sum-usage.ts";

/*
 * Responses of `POST /v1/chat/completions`. Calls of the agent's own tools are hidden, because a client would try to
 * run them. If a run emits text before such a call, all texts are returned, separated by empty lines. Reasoning is
 * `reasoning_content`, the name that clients know.
 */

/** Fields shared by all chunks of a completion. */
export type CompletionInfo = { readonly id: string; readonly created: number; readonly model: string };

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

type ToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

/** How a segment ended. */
export type CompletionEnding = {
  readonly finish: FinishReason;
  readonly calls: readonly ToolCall[];
  /** Text of the answer that no message contains. */
  readonly missingText: string;
};

/** Returns how a segment ended, undefined if it failed. `declared` are the client's tools. */
export function computeEnding(
  result: Result,
  collector: CompletionCollector,
  declared: ReadonlySet<string>,
): CompletionEnding | undefined {
  const { status, text, pending, runId, error } = result;
  const isFiltered = error?.code === "content_filter";
  if (status === "cancelled" || (status === "failed" && !isFiltered)) return undefined;
  const calls = pending
    .filter((call) => call.runId === undefined && call.needs === "answer" && declared.has(call.name))
    .map(({ callId, name, input }) => ({
      id: createClientCallId({ runId, callId }),
      type: "function" as const,
      function: { name, arguments: JSON.stringify(input) },
    }));
  if (calls.length > 0) return { finish: "tool_calls", calls, missingText: "" };
  const finish = isFiltered ? "content_filter" : isCut(error?.code) ? "length" : "stop";
  return { finish, calls, missingText: getMissingText(collector.getLastText(), text) };
}

type CompletionLogprobs = { readonly content: readonly object[]; readonly refusal: null };

/** Collects the output of one segment, event by event. */
export interface CompletionCollector {
  /** Adds an event and returns the delta to stream, if any. */
  add(event: Event): { readonly content?: string; readonly reasoning_content?: string } | undefined;
  /** All complete texts, separated by empty lines. */
  getText(): string;
  getReasoning(): string;
  /** Text of the last complete message. */
  getLastText(): string;
  /** Log probabilities of the text, if they were requested. */
  getLogprobs(): CompletionLogprobs | null;
  /** Usage of all models, including nested runs. */
  getUsage(): Usage;
}

/** Creates a collector. With a required output schema, only the complete final answer is sent. */
export function createCompletionCollector({
  isFormed = false,
}: {
  readonly isFormed?: boolean;
} = {}): CompletionCollector {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const used: Usage[] = [];
  const logprobs: TokenLogprob[] = [];
  /** Streamed text of the current message. */
  let current = "";
  let hasShown = false;

  function emitDelta(delta: string): { readonly content: string } | undefined {
    if (!delta) return undefined;
    const content = hasShown && current === "" ? `\n\n${delta}` : delta;
    hasShown = true;
    current += delta;
    return { content };
  }

  return {
    add(event) {
      const usage = findCallUsage(event);
      if (usage) used.push(usage);
      if (event.parentRunId !== undefined) return undefined;
      if (event.type === "content_delta") return isFormed ? undefined : emitDelta(event.delta);
      if (event.type === "reasoning_delta") return { reasoning_content: event.delta };
      if (restartsMessage(event)) current = "";
      if (event.type !== "message") return undefined;
      const text = isFormed ? "" : getText(event.entry);
      const piece = emitDelta(text.startsWith(current) ? text.slice(current.length) : "");
      if (text) texts.push(text);
      logprobs.push(...(event.logprobs ?? []));
      thoughts.push(...event.entry.parts.map((part) => (part.type === "reasoning" ? part.text : "")));
      current = "";
      return piece;
    },
    getText: () => texts.join("\n\n"),
    getReasoning: () => thoughts.join(""),
    getLastText: () => texts.at(-1) ?? "",
    getLogprobs: () => (logprobs.length > 0 ? { content: formatLogprobs(logprobs), refusal: null } : null),
    getUsage: () => used.reduce(sumUsage, { inputTokens: 0, outputTokens: 0 }),
  };
}

export function formatUsage({
  inputTokens,
  outputTokens,
  cachedTokens = 0,
  reasoningTokens = 0,
}: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

export function buildCompletion(
  info: CompletionInfo,
  collector: CompletionCollector,
  { finish, calls, missingText: rest }: CompletionEnding,
): object {
  const reasoning = collector.getReasoning();
  const message = {
    role: "assistant",
    content: collector.getText() + rest || null,
    refusal: null,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: info.id,
    object: "chat.completion",
    created: info.created,
    model: info.model,
    choices: [{ index: 0, message, logprobs: collector.getLogprobs(), finish_reason: finish }],
    usage: formatUsage(collector.getUsage()),
  };
}
