import { AgentError, type ErrorCode } from "../../errors.ts";
import { isRecord } from "../../json.ts";
import { masked } from "../http-failure.ts";

export function badChunk(problem: string): AgentError {
  return new AgentError("bad_chunk", `A piece of the answer ${problem}.`);
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

/** What an error inside the stream, or in place of an answer, means. */
export function errorOf(event: { readonly [field: string]: unknown }): AgentError {
  const error = isRecord(event.error) ? event.error : event;
  const message = typeof error.message === "string" ? masked(error.message).slice(0, 500).toWellFormed() : "";
  const code = errorTypes.get(error.type) ?? "model_failed";
  const isOverflow = code === "model_rejected" && saysOverflow(message);
  return new AgentError(isOverflow ? "context_overflow" : code, `The model's answer failed: ${message}`);
}

export function saysOverflow(message: string): boolean {
  return /prompt is too long|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context (?:limit|window|length)|request_too_large|request (?:size )?exceeds the maximum (?:allowed )?(?:size|number of bytes)|input is too long/i.test(
    message,
  );
}
