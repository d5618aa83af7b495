import type { Entry } from "./history.ts";
import type { Json } from "./json.ts";
import type { JsonSchema } from "./schema/schema.ts";

export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that the provider read from its cache. */
  readonly cachedTokens?: number;
  /** The part of `outputTokens` spent on reasoning. */
  readonly reasoningTokens?: number;
  /** In US dollars, if known. */
  readonly cost?: number;
  /** True if the provider reported no usable numbers and these are estimated. */
  readonly estimated?: boolean;
};

/**
 * Why the model stopped, in one union for all providers. Only `end` and `tool_calls` complete an answer and allow its
 * tool calls to run. `length`: the output limit; `pause`: the provider continues the turn when it is called again;
 * `other`: anything else, including reasons that no client knows yet.
 */
export type StopReason = "end" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause" | "other";

/** A unit of a model's stream. `index` identifies a call, so the deltas of several calls may interleave. */
export type Chunk =
  /** `opaque` belongs to the block of text or reasoning that this chunk ends. */
  | { readonly type: "text"; readonly text: string; readonly opaque?: Json }
  | { readonly type: "reasoning"; readonly text: string; readonly opaque?: Json }
  | {
      readonly type: "call_start";
      readonly index: number;
      readonly id?: string;
      readonly name: string;
      readonly opaque?: Json;
    }
  | { readonly type: "call_delta"; readonly index: number; readonly text: string }
  | { readonly type: "opaque"; readonly data: Json }
  /** Discards the message so far, which `model` wrote: another model starts over. */
  | { readonly type: "restart"; readonly reason: string; readonly model?: string }
  | { readonly type: "usage"; readonly usage: Usage }
  /** `stop` is an alias of `end`. `detail` is the provider's own word for `other`. */
  | { readonly type: "finish"; readonly reason: StopReason | "stop"; readonly detail?: string };

/** The definition of a tool that is sent to the model. */
export type ToolSpec = { readonly name: string; readonly description: string; readonly input: JsonSchema };

export type ModelRequest = {
  readonly instructions: string;
  /** Every call has its result, in call order. The array is mutated after the request: copy it to keep it. */
  readonly history: readonly Entry[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: "auto" | "required" | "none";
  readonly thinking: boolean;
  /** A higher output limit than usual, set after an answer was truncated. */
  readonly maxOutputTokens?: number;
  /** Schema of the answer. The instructions include it too, for models without structured output. */
  readonly output?: JsonSchema;
};

/**
 * A language model. `stream` yields one batch of chunks per network read and ends with a `finish` chunk; a stream that
 * ends without one counts as truncated. It may throw an `AgentError`, which the runtime retries if it is `retryable`.
 * It must stop when the signal is aborted.
 */
export interface Model {
  readonly id: string;
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<readonly Chunk[]>;
}
