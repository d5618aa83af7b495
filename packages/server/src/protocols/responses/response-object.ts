import type { Fact, Usage } from "capstan";
import { openaiProblem } from "../openai-error.ts";
import type { OutputItem } from "./response-output.ts";

/** What does not change while a response comes about. */
export type ResponseInfo = {
  readonly id: string;
  readonly model: string;
  /** Of the response that this one goes on from. */
  readonly previousId?: string | undefined;
  /** The session that keeps it; left out for one that is not kept. */
  readonly sessionId?: string | undefined;
};

type Status = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

type ShownError = { readonly code: string; readonly message: string };

/** How a response stands, or how it ended. */
export type Standing = {
  readonly status: Status;
  readonly error?: ShownError;
  /** Why there is no more of it. */
  readonly reason?: "max_output_tokens" | "content_filter";
};

/** A response as this API writes it. */
export type ResponseObject = {
  readonly id: string;
  readonly object: "response";
  readonly status: Status;
  readonly error: ShownError | null;
  readonly output: readonly OutputItem[];
} & { readonly [field: string]: unknown };

type Contents = {
  readonly createdAt: number;
  readonly output: readonly OutputItem[];
  readonly usage: Usage;
};

/** What the client did not choose is said as the API's own default. */
export function responseObject(
  { id, model, previousId, sessionId }: ResponseInfo,
  { status, error, reason }: Standing,
  { createdAt, output, usage }: Contents,
): ResponseObject {
  return {
    id,
    object: "response",
    created_at: Math.floor(createdAt / 1000),
    status,
    background: false,
    error: error ? { code: openaiProblem(error).error.code, message: error.message } : null,
    incomplete_details: reason ? { reason } : null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model,
    output,
    parallel_tool_calls: true,
    previous_response_id: previousId ?? null,
    conversation: sessionId === undefined ? null : { id: sessionId },
    reasoning: { effort: null, summary: null },
    store: sessionId !== undefined,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: null,
    truncation: "disabled",
    usage: status === "in_progress" ? null : usageOf(usage),
    user: null,
  };
}

function usageOf({ inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 }: Usage): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** How a run ended. `finish` is how the model ended its last message. */
export function endingOf(
  { status, error, text }: FactOf<"done">,
  finish: FactOf<"message">["finish"] | undefined,
  showError: (error: ShownError) => ShownError,
): Standing {
  if (status === "cancelled") return { status: "cancelled" };
  if (error?.code === "content_filter") return { status: "incomplete", reason: "content_filter" };
  if (status === "failed")
    return { status: "failed", error: showError(error ?? { code: status, message: text }) };
  const isCut = finish === "length" || error?.code === "budget_tokens";
  return isCut ? { status: "incomplete", reason: "max_output_tokens" } : { status: "completed" };
}
