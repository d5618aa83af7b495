import { AgentError, describeThrown, type ErrorCode } from "../../errors.ts";
import { isRecord } from "../../json.ts";
import { masked, retryAfter } from "../http-failure.ts";

const longestMessage = 500;

/**
 * What an error of the AI SDK means, by its `statusCode`. Its cause is not kept: those errors hold the whole request
 * and whatever the provider quoted of it.
 */
export function aiSdkFailure(thrown: unknown, id: string): unknown {
  if (thrown instanceof AgentError) return thrown;
  const { message, code: own } = describeThrown(thrown, "model_failed");
  if (own === "aborted") return thrown;
  const { statusCode, isRetryable, responseHeaders } = fieldsOf(thrown);
  const said = masked(message).slice(0, longestMessage);
  const status = typeof statusCode === "number" ? statusCode : undefined;
  const retryAfterMs = isRecord(responseHeaders) ? retryAfter(headerIn(responseHeaders)) : undefined;
  return new AgentError(
    codeOf(status, isRetryable, said),
    `${id} failed${status === undefined ? "" : ` with ${status}`}: ${said}`,
    {
      ...(typeof isRetryable === "boolean" && { retryable: isRetryable }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  );
}

function fieldsOf(thrown: unknown): {
  statusCode?: unknown;
  isRetryable?: unknown;
  responseHeaders?: unknown;
} {
  return typeof thrown === "object" && thrown !== null ? thrown : {};
}

const tooLong = /context.{0,20}(length|window|limit)|too (long|many tokens)|maximum.{0,20}tokens/i;

function codeOf(status: number | undefined, isRetryable: unknown, said: string): ErrorCode {
  // A call that can be retried and has no status never reached the provider.
  if (status === undefined) return isRetryable === true ? "model_unreachable" : "model_failed";
  if (status === 413 || (status === 400 && tooLong.test(said))) return "context_overflow";
  if (status === 401 || status === 403) return "model_auth";
  if (status === 404) return "model_not_found";
  if (status === 429) return "model_rate_limited";
  if (status === 408 || status === 409 || status >= 500) return "model_overloaded";
  return status >= 400 ? "model_rejected" : "model_failed";
}

function headerIn(headers: Record<string, unknown>): (name: string) => string | undefined {
  return (name) => {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  };
}
