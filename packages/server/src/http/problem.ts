import { type AgentError, type ErrorCode, type ErrorData, errorCodes } from "capstan";
import { type ExceededQuota, findExceededQuota } from "../access/quota-error.ts";

/** The body of every error response. `id` identifies the entry in the server's log. */
export type Problem = {
  readonly error: ErrorData & { readonly id?: string; readonly quota?: ExceededQuota };
};

export function createProblemResponse(error: AgentError, headers: Record<string, string> = {}): Response {
  const { code, message, retryable, retryAfterMs } = error;
  const quota = code === "quota_exceeded" ? findExceededQuota(error) : undefined;
  const body: Problem = {
    error: {
      code,
      message,
      retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(quota && { quota }),
    },
  };
  return Response.json(body, {
    status: errorCodes[code].status,
    headers: {
      ...buildRetryHeader(error),
      ...(code === "unauthorized" && { "www-authenticate": 'Bearer realm="capstan"' }),
      ...headers,
    },
  });
}

/** Creates a response that reveals only the log id. */
export function createInternalProblem(id: string): Response {
  const message = "Internal server error. The server's log has the details under this id.";
  const body: Problem = { error: { code: "internal", message, retryable: true, id } };
  return Response.json(body, { status: errorCodes.internal.status });
}

/**
 * Whether an error may be sent to clients. Errors with status 500 and above may reveal internals, such as file paths,
 * except for capacity errors.
 */
export function isClientError(thrown: unknown): thrown is AgentError {
  const code = thrown instanceof Error ? readErrorCode(thrown) : undefined;
  if (code === undefined || !Object.hasOwn(errorCodes, code)) return false;
  return errorCodes[code as ErrorCode].status < 500 || code === "overloaded" || code === "draining";
}

function readErrorCode(error: Error): string | undefined {
  try {
    return error.name === "AgentError" ? (error as AgentError).code : undefined;
  } catch {
    return undefined; // a throwing getter
  }
}

function buildRetryHeader({ retryAfterMs, code }: AgentError): Record<string, string> {
  const ms = retryAfterMs ?? (errorCodes[code].status === 503 ? 1000 : undefined);
  return ms === undefined ? {} : { "retry-after": `${Math.max(1, Math.ceil(ms / 1000))}` };
}
