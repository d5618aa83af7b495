import type { Fact, ModelSettings, Usage } from "capstan";
import { isCut } from "../is-cut.ts";
import { toOpenaiError } from "../openai-error.ts";
import type { OutputItem } from "./response-output.ts";

/** Fields that are constant for a response. */
export type ResponseInfo = {
  readonly id: string;
  readonly model: string;
  readonly previousId?: string | undefined;
  /** Undefined for a response that is not stored. */
  readonly sessionId?: string | undefined;
  readonly settings?: ModelSettings | undefined;
};

type Status = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

type ResponseError = { readonly code: string; readonly message: string };

export type ResponseStatus = {
  readonly status: Status;
  readonly error?: ResponseError;
  /** Why the response is incomplete. */
  readonly reason?: "max_output_tokens" | "content_filter";
};

export type ResponseObject = {
  readonly id: string;
  readonly object: "response";
  readonly status: Status;
  readonly error: ResponseError | null;
  readonly output: readonly OutputItem[];
} & { readonly [field: string]: unknown };

type ResponseContents = {
  readonly createdAt: number;
  readonly output: readonly OutputItem[];
  readonly usage: Usage;
};

/** Builds the response; fields that the client did not choose have the API's defaults. */
export function buildResponseObject(
  { id, model, previousId, sessionId, settings = {} }: ResponseInfo,
  { status, error, reason }: ResponseStatus,
  { createdAt, output, usage }: ResponseContents,
): ResponseObject {
  return {
    id,
    object: "response",
    created_at: Math.floor(createdAt / 1000),
    status,
    background: false,
    error: error ? { code: toOpenaiError(error).error.code, message: error.message } : null,
    incomplete_details: reason ? { reason } : null,
    instructions: null,
    max_output_tokens: settings.maxOutputTokens ?? null,
    metadata: {},
    model,
    output,
    parallel_tool_calls: settings.parallelToolCalls ?? true,
    previous_response_id: previousId ?? null,
    conversation: sessionId === undefined ? null : { id: sessionId },
    reasoning: { effort: settings.effort ?? null, summary: null },
    store: sessionId !== undefined,
    temperature: settings.temperature ?? null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: settings.topP ?? null,
    truncation: "disabled",
    usage: status === "in_progress" ? null : formatResponseUsage(usage),
    user: null,
  };
}

function formatResponseUsage({
  inputTokens,
  outputTokens,
  cachedTokens = 0,
  reasoningTokens = 0,
}: Usage): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** Converts the end of a run. */
export function toEndStatus(
  { status, error, text }: FactOf<"done">,
  showError: (error: ResponseError) => ResponseError,
): ResponseStatus {
  if (status === "cancelled") return { status: "cancelled" };
  if (error?.code === "content_filter") return { status: "incomplete", reason: "content_filter" };
  if (status === "failed")
    return { status: "failed", error: showError(error ?? { code: status, message: text }) };
  return isCut(error?.code) ? { status: "incomplete", reason: "max_output_tokens" } : { status: "completed" };
}
