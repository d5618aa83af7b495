import { AgentError, type ErrorCode } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { maskKeys } from "../http-failure.ts";

const maxMessageLength = 500;
const maxRetryAfterMs = 60_000;

const errorCodes: ReadonlyMap<unknown, ErrorCode> = new Map<unknown, ErrorCode>([
  ["RESOURCE_EXHAUSTED", "model_rate_limited"],
  [429, "model_rate_limited"],
  ["UNAVAILABLE", "model_overloaded"],
  [503, "model_overloaded"],
  ["UNAUTHENTICATED", "model_auth"],
  [401, "model_auth"],
  ["PERMISSION_DENIED", "model_auth"],
  [403, "model_auth"],
  ["NOT_FOUND", "model_not_found"],
  [404, "model_not_found"],
  ["DEADLINE_EXCEEDED", "model_timeout"],
  [504, "model_timeout"],
  ["INVALID_ARGUMENT", "model_rejected"],
  ["FAILED_PRECONDITION", "model_rejected"],
  ["OUT_OF_RANGE", "model_rejected"],
  [400, "model_rejected"],
]);

/** Converts `{ code, status, message, details }` from a stream event or an error response. */
export function toGeminiError(error: unknown): AgentError {
  const { code, status, message, details } = isRecord(error) ? error : { message: error };
  const text = typeof message === "string" ? message : "";
  const kind = errorCodes.get(status) ?? errorCodes.get(code) ?? "model_failed";
  const retryAfterMs = parseRetryDelay(details);
  return new AgentError(
    kind === "model_rejected" ? toRejectionCode(text) : kind,
    `Gemini error: ${maskKeys(text).slice(0, maxMessageLength).toWellFormed() || status || code || "unknown error"}`,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

function toRejectionCode(message: string): ErrorCode {
  if (isGeminiOverflow(message)) return "context_overflow";
  return /API key (?:not valid|expired)/i.test(message) ? "model_auth" : "model_rejected";
}

const overflowPattern =
  /exceeds? the maximum number of tokens|input token count .*(?:exceeds|only supports)|payload size exceeds the limit/i;

export function isGeminiOverflow(message: string): boolean {
  return overflowPattern.test(message);
}

/** Parses `google.rpc.RetryInfo`, such as "34.4s"; undefined if longer than a minute. */
function parseRetryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const info = details.find((detail) => isRecord(detail) && typeof detail.retryDelay === "string");
  const ms = Math.round(Number.parseFloat(info?.retryDelay ?? "") * 1000);
  return ms > 0 && ms <= maxRetryAfterMs ? ms : undefined;
}
