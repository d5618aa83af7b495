import { type ErrorCode, type ErrorData, toErrorData } from "./errors.ts";
import type { Chunk, StopReason } from "./model.ts";

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

/** Returns why the model stopped, also for facts of version 1. */
export function getStopReason({ stopReason, finish = "other" }: StoredStopReason): MessageEnd {
  return stopReason ?? (finish === "stop" ? "end" : finish);
}

/** What is known of an answer when its stream has ended. */
export type AnswerSummary = {
  /** Undefined if the stream ended without a `finish` chunk. */
  readonly stopReason: StopReason | undefined;
  /** The provider's own word for the reason. */
  readonly detail?: string | undefined;
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
