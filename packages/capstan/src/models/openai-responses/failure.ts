import { AgentError, type ErrorCode } from "../../base/errors.ts";
import { maskKeys } from "../http-failure.ts";

const maxMessageLength = 500;
const maxRetryAfterMs = 60_000;

const overflowPattern =
  /context_length_exceeded|context window|maximum context length|input tokens exceed|input is too long|prompt is too long/i;

export function isResponsesOverflow(message: string): boolean {
  return overflowPattern.test(message);
}

/** Matched against the error's code and type; the first match wins. */
const codePatterns: readonly (readonly [RegExp, ErrorCode])[] = [
  [/context_length|string_above_max_length/, "context_overflow"],
  [/content_filter|policy|safety/, "content_filter"],
  [/rate_limit|too_many_requests|insufficient_quota|\b429\b/, "model_rate_limited"],
  [/overloaded|slow_down|unavailable|\b50[34]\b|\b529\b/, "model_overloaded"],
  [/api_key|auth|permission|\b40[13]\b/, "model_auth"],
  [/model_not_found|\b404\b/, "model_not_found"],
  [/server_error|timeout|\b5\d\d\b/, "model_failed"],
  [/^(invalid|unsupported|image|empty_image|failed_to_download_image)|\b4\d\d\b/, "model_rejected"],
];

/** Converts an error in a response: `{ code, type, message }`, each optional. */
export function toResponsesError(error: { readonly [field: string]: unknown }): AgentError {
  const text = typeof error.message === "string" ? error.message : "The model's response failed.";
  const code = classifyError(error, text);
  const retryAfterMs = parseRetryDelay(text);
  return new AgentError(code, maskKeys(text).slice(0, maxMessageLength).toWellFormed(), {
    // Retrying does not restore an exhausted quota.
    ...(error.code === "insufficient_quota" && { retryable: false }),
    ...(code === "model_rate_limited" && retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function classifyError({ code, type }: { readonly [field: string]: unknown }, message: string): ErrorCode {
  if (isResponsesOverflow(message)) return "context_overflow";
  // The event type "error" matches no pattern.
  for (const word of [code, type]) {
    const kind = codePatterns.find(([words]) => words.test(String(word ?? "").toLowerCase()));
    if (kind) return kind[1];
  }
  return "model_failed";
}

/** Parses "Please try again in 1.2s." */
function parseRetryDelay(message: string): number | undefined {
  const [, amount, unit] = /try again in ([\d.]+) ?(ms|s)\b/i.exec(message) ?? [];
  const ms = Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1000);
  return ms > 0 && ms <= maxRetryAfterMs ? Math.ceil(ms) : undefined;
}
