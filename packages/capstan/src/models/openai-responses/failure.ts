import { AgentError, type ErrorCode } from "../../errors.ts";
import { masked } from "../http-failure.ts";

const longestMessage = 500;
const longestWaitMs = 60_000;

const overflow =
  /context_length_exceeded|context window|maximum context length|input tokens exceed|input is too long|prompt is too long/i;

export function saysOverflow(message: string): boolean {
  return overflow.test(message);
}

/** By the words of the error's code or type, the first that fits. */
const kinds: readonly (readonly [RegExp, ErrorCode])[] = [
  [/context_length|string_above_max_length/, "context_overflow"],
  [/content_filter|policy|safety/, "content_filter"],
  [/rate_limit|too_many_requests|insufficient_quota|\b429\b/, "model_rate_limited"],
  [/overloaded|slow_down|unavailable|\b50[34]\b|\b529\b/, "model_overloaded"],
  [/api_key|auth|permission|\b40[13]\b/, "model_auth"],
  [/model_not_found|\b404\b/, "model_not_found"],
  [/server_error|timeout|\b5\d\d\b/, "model_failed"],
  [/^(invalid|unsupported|image|empty_image|failed_to_download_image)|\b4\d\d\b/, "model_rejected"],
];

/** An error told inside an answer: `{ code, type, message }`, each of which may be missing. */
export function responsesFailure(error: { readonly [field: string]: unknown }): AgentError {
  const said = typeof error.message === "string" ? error.message : "The model's answer failed.";
  const code = codeOf(error, said);
  const retryAfterMs = waitIn(said);
  return new AgentError(code, masked(said).slice(0, longestMessage).toWellFormed(), {
    // A quota that is used up is not filled by waiting.
    ...(error.code === "insufficient_quota" && { retryable: false }),
    ...(code === "model_rate_limited" && retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function codeOf({ code, type }: { readonly [field: string]: unknown }, message: string): ErrorCode {
  if (saysOverflow(message)) return "context_overflow";
  // The event's own type, "error", says nothing: no kind fits it.
  for (const word of [code, type]) {
    const kind = kinds.find(([words]) => words.test(String(word ?? "").toLowerCase()));
    if (kind) return kind[1];
  }
  return "model_failed";
}

/** "Please try again in 1.2s." */
function waitIn(message: string): number | undefined {
  const [, amount, unit] = /try again in ([\d.]+) ?(ms|s)\b/i.exec(message) ?? [];
  const ms = Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1000);
  return ms > 0 && ms <= longestWaitMs ? Math.ceil(ms) : undefined;
}
