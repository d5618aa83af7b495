import type { Json, Usage } from "capstan";
import type { AnthropicError } from "../anthropic-error.ts";

/* Shapes of Anthropic's Messages API, limited to what this server sends. Fields that it does not have are null. */

/** Fields shared by all events of a message. */
export type MessageInfo = { readonly id: string; readonly model: string };

export type StopReason = "end_turn" | "max_tokens" | "tool_use" | "refusal";

export type ContentBlock =
  | { readonly type: "text"; readonly text: string; readonly citations: null }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: Json;
      readonly caller: { readonly type: "direct" };
    };

export type MessageUsage = {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  readonly server_tool_use: null;
  readonly iterations: null;
  readonly fallback_credit: null;
};

export type MessageObject = MessageInfo & {
  readonly type: "message";
  readonly role: "assistant";
  readonly content: ContentBlock[];
  /** Null while the message is streamed. */
  readonly stop_reason: StopReason | null;
  readonly stop_sequence: null;
  readonly stop_details: null;
  readonly container: null;
  readonly context_management: null;
  readonly diagnostics: null;
  readonly usage: MessageUsage & {
    readonly cache_creation: null;
    readonly inference_geo: null;
    readonly service_tier: null;
    readonly speed: null;
  };
};

type MessageState = {
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason | null;
  readonly usage: MessageUsage;
};

export function buildMessageObject(
  { id, model }: MessageInfo,
  { content, stopReason, usage }: MessageState,
): MessageObject {
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [...content],
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    context_management: null,
    diagnostics: null,
    usage: { ...usage, cache_creation: null, inference_geo: null, service_tier: null, speed: null },
  };
}

/** Anthropic counts cached tokens separately from other input tokens. */
export function toMessageUsage(usage: Usage): MessageUsage {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: null,
    iterations: null,
    fallback_credit: null,
  };
}

type BlockDelta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "signature_delta"; readonly signature: string }
  | { readonly type: "input_json_delta"; readonly partial_json: string };

/** An event of a streamed message. */
export type MessageEvent =
  | { readonly type: "message_start"; readonly message: MessageObject }
  | { readonly type: "content_block_start"; readonly index: number; readonly content_block: ContentBlock }
  | { readonly type: "content_block_delta"; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: "content_block_stop"; readonly index: number }
  | {
      readonly type: "message_delta";
      readonly delta: {
        readonly container: null;
        readonly stop_details: null;
        readonly stop_reason: StopReason;
        readonly stop_sequence: null;
      };
      readonly usage: MessageUsage;
    }
  | { readonly type: "message_stop" }
  | { readonly type: "ping" }
  | AnthropicError;
