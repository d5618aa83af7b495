import { AgentError, type ErrorCode } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { maskKeys } from "../http-failure.ts";

export function createBadChunkError(problem: string): AgentError {
  return new AgentError("bad_chunk", `A stream event ${problem}.`);
}

const errorTypes: ReadonlyMap<unknown, ErrorCode> = new Map<unknown, ErrorCode>([
  ["overloaded_error", "model_overloaded"],
  ["rate_limit_error", "model_rate_limited"],
  ["timeout_error", "model_timeout"],
  ["authentication_error", "model_auth"],
  ["permission_error", "model_auth"],
  ["not_found_error", "model_not_found"],
  ["request_too_large", "context_overflow"],
  ["invalid_request_error", "model_rejected"],
  ["billing_error", "model_rejected"],
]);

/** Converts an error event or an error response. */
export function toStreamError(event: { readonly [field: string]: unknown }): AgentError {
  const error = isRecord(event.error) ? event.error : event;
  const message =
    typeof error.message === "string" ? maskKeys(error.message).slice(0, 500).toWellFormed() : "";
  const code = errorTypes.get(error.type) ?? "model_failed";
  const isOverflow = code === "model_rejected" && isAnthropicOverflow(message);
  return new AgentError(isOverflow ? "context_overflow" : code, `The model's response failed: ${message}`);
}

export function isAnthropicOverflow(message: string): boolean {
  return /prompt is too long|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context (?:limit|window|length)|request_too_large|request (?:size )?exceeds the maximum (?:allowed )?(?:size|number of bytes)|input is too long/i.test(
    message,
  );
}
