import type { Entry } from "./history.ts";
import type { Json } from "./json.ts";
import type { JsonSchema } from "./schema/schema.ts";

export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens` that the provider had cached. */
  readonly cachedTokens?: number;
  /** Part of `outputTokens` that was reasoning. */
  readonly reasoningTokens?: number;
  /** In US dollars, as far as it is known. */
  readonly cost?: number;
  /** The provider gave no usable figures; these are an estimate. */
  readonly estimated?: boolean;
};

/** Why the model stopped. Only `stop` and `tool_calls` allow its tool calls to run. */
export type Finish = "stop" | "tool_calls" | "length" | "content_filter" | "other";

/** What a model streams. Calls are told apart by `index`, so their pieces may interleave. */
export type Chunk =
  /** `opaque` belongs to the block of text or reasoning that it closes. */
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
  /** What was said so far is void: another model begins anew. */
  | { readonly type: "restart"; readonly reason: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "finish"; readonly reason: Finish };

/** A tool as the model sees it. */
export type ToolSpec = { readonly name: string; readonly description: string; readonly input: JsonSchema };

export type ModelRequest = {
  readonly instructions: string;
  /** Valid for every provider: each call has its result, in call order. Grows after the call: do not keep it. */
  readonly history: readonly Entry[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: "auto" | "required" | "none";
  readonly thinking: boolean;
  /** More room than usual: the last answer did not fit. */
  readonly maxOutputTokens?: number;
  /** The form the answer must have. The instructions say so too, for models that have no setting for it. */
  readonly output?: JsonSchema;
};

/**
 * A language model. `stream` yields what one read from the network gave, as a batch of chunks, and ends after a
 * `finish` chunk: an end without one means that the answer was cut off. It may throw an `AgentError`; the
 * runtime retries what is `retryable`. It must stop when the signal is aborted.
 */
export interface Model {
  readonly id: string;
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<readonly Chunk[]>;
}
