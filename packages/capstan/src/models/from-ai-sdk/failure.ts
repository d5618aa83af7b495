import { AgentError, describeThrown, type ErrorCode } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { maskKeys, parseRetryAfter } from "../http-failure.ts";

const maxMessageLength = 500;

/**
 * Converts an AI SDK error by its `statusCode`. Drops the cause, because AI SDK errors contain the whole request.
 */
export function toAiSdkError(thrown: unknown, id: string): unknown {
  if (thrown instanceof AgentError) return thrown;
  const { message, code: ownCode } = describeThrown(thrown, "model_failed");
  if (ownCode === "aborted") return thrown;
  const { statusCode, isRetryable, responseHeaders } = getFields(thrown);
  const text = maskKeys(message).slice(0, maxMessageLength);
  const status = typeof statusCode === "number" ? statusCode : undefined;
  const retryAfterMs = isRecord(responseHeaders)
    ? parseRetryAfter(createHeaderLookup(responseHeaders))
    : undefined;
  return new AgentError(
    classifyAiSdkError(status, isRetryable, text),
    `${id} failed${status === undefined ? "" : ` with ${status}`}: ${text}`,
    {
      ...(typeof isRetryable === "boolean" && { retryable: isRetryable }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  );
}

function getFields(thrown: unknown): {
  statusCode?: unknown;
  isRetryable?: unknown;
  responseHeaders?: unknown;
} {
  return typeof thrown === "object" && thrown !== null ? thrown : {};
}

const overflowPattern = /context.{0,20}(length|window|limit)|too (long|many tokens)|maximum.{0,20}tokens/i;

function classifyAiSdkError(status: number | undefined, isRetryable: unknown, text: string): ErrorCode {
  // A retryable error without a status never reached the provider.
  if (status === undefined) return isRetryable === true ? "model_unreachable" : "model_failed";
  if (status === 413 || (status === 400 && overflowPattern.test(text))) return "context_overflow";
  if (status === 401 || status === 403) return "model_auth";
  if (status === 404) return "model_not_found";
  if (status === 429) return "model_rate_limited";
  if (status === 408 || status === 409 || status >= 500) return "model_overloaded";
  return status >= 400 ? "model_rejected" : "model_failed";
}

function createHeaderLookup(headers: Record<string, unknown>): (name: string) => string | undefined {
  return (name) => {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  };
}
