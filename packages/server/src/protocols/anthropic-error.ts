/** The body of an error for clients of Anthropic's API. */
export type AnthropicError = {
  readonly type: "error";
  readonly error: {
    readonly type: AnthropicErrorType;
    readonly message: string;
    readonly details?: { readonly error_code: "thread_unsupported_request" };
  };
  readonly request_id: string;
};

const typesByStatus = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
} as const;

type AnthropicErrorType =
  | (typeof typesByStatus)[keyof typeof typesByStatus]
  | "invalid_request_error"
  | "api_error";

/** Creates the body of an error with this status. The id finds the request in the server's log. */
export function toAnthropicError(status: number, message: string, requestId: string): AnthropicError {
  return { type: "error", error: { type: getErrorType(status), message }, request_id: requestId };
}

/** Clients that let the server keep the conversation send the whole conversation after this error. */
export function createThreadError(requestId: string): AnthropicError {
  const message = "Threads are not supported. Send the full conversation without `thread`.";
  const { error, ...body } = toAnthropicError(400, message, requestId);
  return { ...body, error: { ...error, details: { error_code: "thread_unsupported_request" } } };
}

function getErrorType(status: number): AnthropicErrorType {
  const known: AnthropicErrorType | undefined = typesByStatus[status as keyof typeof typesByStatus];
  return known ?? (status < 500 ? "invalid_request_error" : "api_error");
}
