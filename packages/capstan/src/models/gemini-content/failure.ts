import { AgentError, type ErrorCode } from "../../errors.ts";
import { isRecord } from "../../json.ts";
import { masked } from "../http-failure.ts";

const longestMessage = 500;
const longestRetryAfterMs = 60_000;

const codes: ReadonlyMap<unknown, ErrorCode> = new Map<unknown, ErrorCode>([
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

/** What `{ code, status, message, details }` means, in a stream or instead of an answer. */
export function failureIn(error: unknown): AgentError {
  const { code, status, message, details } = isRecord(error) ? error : { message: error };
  const said = typeof message === "string" ? message : "";
  const kind = codes.get(status) ?? codes.get(code) ?? "model_failed";
  const retryAfterMs = retryDelay(details);
  return new AgentError(
    kind === "model_rejected" ? rejection(said) : kind,
    `Gemini said ${masked(said).slice(0, longestMessage).toWellFormed() || status || code || "that it failed"}`,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

function rejection(message: string): ErrorCode {
  if (isGeminiOverflow(message)) return "context_overflow";
  return /API key (?:not valid|expired)/i.test(message) ? "model_auth" : "model_rejected";
}

const overflow =
  /exceeds? the maximum number of tokens|input token count .*(?:exceeds|only supports)|payload size exceeds the limit/i;

export function isGeminiOverflow(message: string): boolean {
  return overflow.test(message);
}

/** `google.rpc.RetryInfo` says it as "34.4s"; nothing when it is longer than anyone should sleep. */
function retryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const info = details.find((detail) => isRecord(detail) && typeof detail.retryDelay === "string");
  const ms = Math.round(Number.parseFloat(info?.retryDelay ?? "") * 1000);
  return ms > 0 && ms <= longestRetryAfterMs ? ms : undefined;
}
