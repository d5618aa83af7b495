import { type AgentError, type ErrorCode, type ErrorData, errorCodes } from "capstan";

/** The body of every answer that says what went wrong. `id` finds it in the log of the server. */
export type Problem = { readonly error: ErrorData & { readonly id?: string } };

/** An error as an answer. */
export function problemResponse(error: AgentError, headers: Record<string, string> = {}): Response {
  const { code, message, retryable, retryAfterMs } = error;
  const body: Problem = {
    error: { code, message, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  };
  return Response.json(body, {
    status: errorCodes[code].status,
    headers: {
      ...waitHeader(error),
      ...(code === "unauthorized" && { "www-authenticate": 'Bearer realm="capstan"' }),
      ...headers,
    },
  });
}

/** An answer that tells nothing of what happened inside: only where to find it. */
export function internalProblem(id: string): Response {
  const message = "Something went wrong inside of the server. Its log says what, under this id.";
  const body: Problem = { error: { code: "internal", message, retryable: true, id } };
  return Response.json(body, { status: errorCodes.internal.status });
}

/**
 * Whether an error is one of ours, made for whoever asks. Those of a status above 499 speak of the inside of the server,
 * such as its files, unless they say that it has no room.
 */
export function isForClients(thrown: unknown): thrown is AgentError {
  const code = thrown instanceof Error ? codeOf(thrown) : undefined;
  if (code === undefined || !Object.hasOwn(errorCodes, code)) return false;
  return errorCodes[code as ErrorCode].status < 500 || code === "overloaded" || code === "draining";
}

function codeOf(error: Error): string | undefined {
  try {
    return error.name === "AgentError" ? (error as AgentError).code : undefined;
  } catch {
    return undefined; // a getter that throws has nothing to tell
  }
}

function waitHeader({ retryAfterMs, code }: AgentError): Record<string, string> {
  const ms = retryAfterMs ?? (errorCodes[code].status === 503 ? 1000 : undefined);
  return ms === undefined ? {} : { "retry-after": `${Math.max(1, Math.ceil(ms / 1000))}` };
}
