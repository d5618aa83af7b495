import { type ErrorCode, type ErrorData, toErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Usage } from "../base/usage.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Entry, MediaPart } from "./history.ts";
import type { HostedRequest } from "./hosted-support.ts";
import type { CitedSource, HostedCall, HostedToolSpec } from "./hosted-tool.ts";
import type { ModelSettings, ToolChoice } from "./settings/settings.ts";
import type { SettingProblem } from "./settings/support.ts";
import type { NativeTool } from "./tool.ts";
import type { ExamplesByTool } from "./tool-examples.ts";

export type { Usage };

/**
 * Why the model stopped, in one union for all providers. Only `end` and `tool_calls` complete an answer and allow its
 * tool calls to run. `length`: the output limit; `pause`: the provider continues the turn when it is called again;
 * `other`: anything else, including reasons that no client knows yet.
 */
export type StopReason = "end" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause" | "other";

/** A token of an answer with its log probability, and the most likely alternatives if they were requested. */
export type TokenLogprob = {
  readonly token: string;
  readonly logprob: number;
  readonly top?: readonly { readonly token: string; readonly logprob: number }[];
};

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
  /** Complete generated media; `data` is base64. With `opaque`, they are sent back to the provider in later turns. */
  | { readonly type: "media"; readonly mediaType: string; readonly data: string; readonly opaque?: Json }
  /** A call that the provider executes. Its own blocks are `opaque` chunks in addition. */
  | { readonly type: "hosted"; readonly call: HostedCall }
  /** The text so far cites a source that a hosted tool found. */
  | { readonly type: "citation"; readonly source: CitedSource }
  /** Discards the message so far, which `model` wrote: another model starts over. */
  | { readonly type: "restart"; readonly reason: string; readonly model?: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "logprobs"; readonly tokens: readonly TokenLogprob[] }
  /** `stop` is an alias of `end`. `detail` is the provider's own word for `other`. */
  | { readonly type: "finish"; readonly reason: StopReason | "stop"; readonly detail?: string };

/** The definition of a tool that is sent to the model. */
export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  /** The provider searches for the tool itself, and shows it to the model once it is found. */
  readonly defer?: true;
  /** A model that knows this tool gets its name only. */
  readonly native?: NativeTool;
};

export type ModelRequest = {
  readonly instructions: string;
  /** Every call has its result, in call order. The array is mutated after the request: copy it to keep it. */
  readonly history: readonly Entry[];
  readonly tools: readonly ToolSpec[];
  /** For a model that matches words, as the offline model does. A client must not send them: they cost tokens. */
  readonly examples?: ExamplesByTool;
  /** Tools that the provider executes. */
  readonly hosted?: readonly HostedToolSpec[];
  readonly toolChoice: ToolChoice;
  /** The turn calls for deliberation. A wish, unlike `settings.effort`: a model that cannot reason ignores it. */
  readonly thinking: boolean;
  /** Set by the agent or the run; takes precedence over the settings of the client. */
  readonly settings?: Omit<ModelSettings, "toolChoice">;
  /** A higher output limit than usual, set after an answer was truncated. */
  readonly maxOutputTokens?: number;
  /** Schema of the answer. The instructions include it too, for models without structured output. */
  readonly output?: JsonSchema;
};

/** A request as a client sends it. Values of headers and of the query that may be secrets are `***`. */
export type SentRequest = {
  /** Empty if the model is not called over HTTP; the body is then the JSON of the `ModelRequest`, without `examples`. */
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type StreamOptions = {
  readonly signal: AbortSignal;
  /** Called right before each request is sent. A model that does not call it is taken to get the request as it is. */
  onRequest?(sent: SentRequest): void;
};

/** The embedding of a text. */
export type Vector = readonly number[];

export type EmbedOptions = {
  readonly signal?: AbortSignal;
  /** Length of the vectors, for models that can shorten them. */
  readonly dimensions?: number;
  /** What the texts are for: some models embed a query in another way than the documents it should find. */
  readonly kind?: "query" | "document";
  /** False embeds every text again. Default: a cache in memory that all clients of the process share. */
  readonly cache?: VectorCache | false;
};

/** Keeps vectors by a key that depends on the model, the options and the text. */
export interface VectorCache {
  /** Returns the vectors in the order of the keys, and undefined for those it does not have. */
  get(keys: readonly string[]): readonly (Vector | undefined)[] | Promise<readonly (Vector | undefined)[]>;
  set(entries: readonly (readonly [key: string, vector: Vector])[]): void | Promise<void>;
}

export type Embeddings = {
  /** In the order of the texts, all of the same length. */
  readonly vectors: readonly Vector[];
  /** Texts that were in the cache use nothing. */
  readonly usage: Usage;
};

/** Embeds texts, in their order: the descriptions of tools, and the queries that search them. */
export type EmbedTools = (
  texts: readonly string[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly Vector[]>;

export type RerankRequest = { readonly query: string; readonly documents: readonly string[] };

export type RerankOptions = {
  readonly signal?: AbortSignal;
  /** Returns only the best. Default: all. */
  readonly top?: number;
};

/** `index` is the position of the document in the request. */
export type RankedDocument = { readonly index: number; readonly score: number };

export type Reranking = { readonly ranking: readonly RankedDocument[]; readonly usage: Usage };

/**
 * A language model. `stream` yields one batch of chunks per network read and ends with a `finish` chunk; a stream that
 * ends without one counts as truncated. It may throw an `AgentError`, which the runtime retries if it is `retryable`.
 * It must stop when the signal is aborted.
 */
export interface Model {
  readonly id: string;
  stream(request: ModelRequest, options: StreamOptions): AsyncIterable<readonly Chunk[]>;
  /** Returns the settings that this model cannot follow. A model without it is trusted with all of them. */
  checkSettings?(settings: ModelSettings): readonly SettingProblem[];
  /** Returns why this model cannot have these hosted tools. A model without it is trusted with all of them. */
  checkHosted?(request: HostedRequest): readonly string[];
  /** Whether the model gets this part itself and not a placeholder. A model without it is trusted with every part. */
  acceptsMedia?(part: MediaPart): boolean;
  /** Uploads files to the provider. Absent if it cannot store files. */
  readonly files?: ModelFiles;
  /** Embeds texts. Missing if the provider has no embeddings. Throws an `AgentError`, after its own retries. */
  embed?(texts: readonly string[], options?: EmbedOptions): Promise<Embeddings>;
  /** Sorts documents by their relevance for a query, the best first. Missing if the provider cannot. */
  rerank?(request: RerankRequest, options?: RerankOptions): Promise<Reranking>;
}

/** A file to upload. */
export type NewFile = {
  /** The bytes, or their base64 form. */
  readonly data: Uint8Array | string;
  readonly mediaType: string;
  /** Shown to the model by some providers. Default: `file`, with the extension of the media type. */
  readonly name?: string;
};

/** The files of a provider's account. They stay until they are removed or expire. */
export interface ModelFiles {
  /**
   * Uploads a file and returns a part for messages of any run and session. A client uploads the same bytes once. Retries
   * like a model call, and rejects with the same errors.
   */
  upload(file: NewFile, options?: { readonly signal?: AbortSignal }): Promise<MediaPart>;
  /** Deletes the file of a part. A file that does not exist is not an error. */
  remove(part: MediaPart, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

const stopReasons: ReadonlySet<string> = new Set<StopReason>([
  ...(["end", "tool_calls", "length", "content_filter", "refusal", "pause", "other"] as const),
]);

/** Reads the reason of a `finish` chunk. A reason that is not in the union counts as `other`. */
export function toStopReason(reason: Extract<Chunk, { type: "finish" }>["reason"]): StopReason {
  if (reason === "stop") return "end";
  return stopReasons.has(reason) ? reason : "other";
}

/** Why the model stopped, or `aborted`: the run was cancelled while the answer streamed. */
export type MessageEnd = StopReason | "aborted";

/** The fields of a `message` fact that say why the model stopped; facts of version 1 have `finish`. */
export type StoredStopReason = { readonly stopReason?: MessageEnd; readonly finish?: MessageEnd | "stop" };

/** Returns why the model stopped. Supports facts of version 1. */
export function getStopReason({ stopReason, finish = "other" }: StoredStopReason): MessageEnd {
  return stopReason ?? (finish === "stop" ? "end" : finish);
}

/** What is known of an answer when its stream has ended. */
export type AnswerSummary = {
  /** Undefined if the stream ended without a `finish` chunk. */
  readonly stopReason: StopReason | undefined;
  /** The provider's own word for the reason. */
  readonly detail?: string | undefined;
  /** Text or generated media. */
  readonly hasText: boolean;
  readonly hasCalls: boolean;
  /** The answer has to match an output schema. */
  readonly isStructured?: boolean;
};

/** Why an answer cannot be used. */
export type AnswerProblem = ErrorData & { readonly code: ErrorCode };

/**
 * THE rule for "is this answer whole?", the same for every model. Returns why a finished stream cannot be used, so that
 * no part of it is. An answer that was filtered, refused, paused, or cut within plain text can be used for what it is.
 */
export function findAnswerProblem(answer: AnswerSummary): AnswerProblem | undefined {
  const { stopReason, detail, hasText, hasCalls, isStructured = false } = answer;
  if (stopReason === undefined)
    return toErrorData("stream_truncated", "The model's answer ended before it was complete.");
  if (stopReason === "other" || (stopReason === "pause" && hasCalls)) {
    const reason = detail === undefined ? "for an unknown reason" : `with the reason "${detail}"`;
    const calls = hasCalls ? " Its tool calls were not made." : "";
    return toErrorData(
      "answer_incomplete",
      `The model stopped ${reason} before its answer was complete.${calls}`,
    );
  }
  if (stopReason === "length" && (hasCalls || isStructured || !hasText)) {
    const place = hasCalls
      ? "in the middle of a tool call; the call was not made"
      : "before it had an answer";
    const where = isStructured && hasText && !hasCalls ? "in the middle of a structured answer" : place;
    return toErrorData("output_truncated", `The model reached its output limit ${where}.`);
  }
  if (!hasText && !hasCalls && stopReason === "end")
    return toErrorData("empty_response", "The model gave neither text nor a tool call.");
  return undefined;
}
