import type { Event, Fact, Result, Usage } from "capstan";
import { getText } from "capstan";
import { clientCallId } from "../call-ids.ts";
import { unsaid } from "../chat/chat-events.ts";

/*
 * Answers as `POST /v1/chat/completions` gives them. Calls of the agent's own tools are never shown: a client would try to
 * run them. Of a run that said something before such a call, all texts are given, with an empty line between. Reasoning
 * is `reasoning_content`, the name that clients know.
 */

/** The same in every chunk of an answer. */
export type CompletionInfo = { readonly id: string; readonly created: number; readonly model: string };

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

type ToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

/** What came of one leg of a run: what the client is told at its end. */
export type Ending = {
  readonly finish: FinishReason;
  readonly calls: readonly ToolCall[];
  /** What no message has said. */
  readonly rest: string;
};

/** How a leg ended; undefined when it failed. `declared` are the tools that the client runs. */
export function endingOf(result: Result, told: Said, declared: ReadonlySet<string>): Ending | undefined {
  const { status, text, pending, runId, error } = result;
  const isFiltered = error?.code === "content_filter";
  if (status === "cancelled" || (status === "failed" && !isFiltered)) return undefined;
  const calls = pending
    .filter((call) => call.runId === undefined && call.needs === "answer" && declared.has(call.name))
    .map(({ callId, name, input }) => ({
      id: clientCallId({ runId, callId }),
      type: "function" as const,
      function: { name, arguments: JSON.stringify(input) },
    }));
  if (calls.length > 0) return { finish: "tool_calls", calls, rest: "" };
  const isCut = told.finish() === "length" || error?.code === "budget_tokens";
  const finish = isFiltered ? "content_filter" : isCut ? "length" : "stop";
  return { finish, calls, rest: unsaid(told.last(), text) };
}

/** What the agent says to the client in one leg, event by event. */
export interface Said {
  /** The piece of text or reasoning that an event adds for a client that reads along. */
  hear(event: Event): { readonly content?: string; readonly reasoning_content?: string } | undefined;
  /** All texts that are still good, with an empty line between. */
  text(): string;
  reasoning(): string;
  /** Of the last whole message. */
  last(): string;
  finish(): Extract<Fact, { readonly type: "message" }>["finish"] | undefined;
  /** Of all models that were asked, those of nested runs too. */
  usage(): Usage;
}

/** Nothing said yet. Of an answer that must have a form, only the answer itself is for the client, and only when it is whole. */
export function said({ isFormed = false }: { readonly isFormed?: boolean } = {}): Said {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const used: Usage[] = [];
  let finish: ReturnType<Said["finish"]>;
  /** Of the message that is being said, and whether anything was shown before it. */
  let current = "";
  let hasShown = false;

  function shown(delta: string): { readonly content: string } | undefined {
    if (!delta) return undefined;
    const content = hasShown && current === "" ? `\n\n${delta}` : delta;
    hasShown = true;
    current += delta;
    return { content };
  }

  return {
    hear(event) {
      if ("usage" in event && event.usage && event.type !== "done" && event.type !== "turn_end")
        used.push(event.usage);
      if (event.parentRunId !== undefined) return undefined;
      if (event.type === "content_delta") return isFormed ? undefined : shown(event.delta);
      if (event.type === "reasoning_delta") return { reasoning_content: event.delta };
      if (event.type === "message_restart") current = "";
      if (event.type !== "message") return undefined;
      const text = isFormed ? "" : getText(event.entry);
      const piece = shown(text.startsWith(current) ? text.slice(current.length) : "");
      if (text) texts.push(text);
      thoughts.push(...event.entry.parts.map((part) => (part.type === "reasoning" ? part.text : "")));
      finish = event.finish;
      current = "";
      return piece;
    },
    text: () => texts.join("\n\n"),
    reasoning: () => thoughts.join(""),
    last: () => texts.at(-1) ?? "",
    finish: () => finish,
    usage: () => used.reduce(sum, { inputTokens: 0, outputTokens: 0 }),
  };
}

function sum(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: (left.cachedTokens ?? 0) + (right.cachedTokens ?? 0),
    reasoningTokens: (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0),
  };
}

/** Tokens as this API counts them. */
export function usageOf({ inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/** The whole answer at once. */
export function completion(info: CompletionInfo, told: Said, { finish, calls, rest }: Ending): object {
  const reasoning = told.reasoning();
  const message = {
    role: "assistant",
    content: told.text() + rest || null,
    refusal: null,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: info.id,
    object: "chat.completion",
    created: info.created,
    model: info.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageOf(told.usage()),
  };
}
