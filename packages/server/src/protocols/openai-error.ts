import { type ErrorCode, errorCodes } from "capstan";
import type { Problem } from "../http/problem.ts";

/** The body of every error under `/v1`. */
export type OpenaiError = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
};

/** Codes with another name in OpenAI's API. */
const codeNames: { readonly [code: string]: string } = {
  unknown_agent: "model_not_found",
  unauthorized: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  model_rate_limited: "rate_limit_exceeded",
  context_overflow: "context_length_exceeded",
  // Errors of the agent's provider; the original name would blame the client's key or model.
  model_auth: "upstream_error",
  model_not_found: "upstream_error",
};

/** A provider's failure is not the client's, whatever the provider's status. */
const codeStatuses: { readonly [code: string]: number } = {
  model_auth: 502,
  model_not_found: 502,
  context_overflow: 400,
  cancelled: 503,
  aborted: 503,
};

export function toOpenaiError({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): OpenaiError {
  const name = codeNames[code] ?? code;
  const param = code === "unknown_agent" ? "model" : null;
  return { error: { message, type: getErrorType(getOpenaiStatus(code)), param, code: name } };
}

/** Returns the status of a failed run. */
export function getOpenaiStatus(code: string): number {
  return codeStatuses[code] ?? (Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : 500);
}

function getErrorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

type RequestHandler<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Promise<Response>;

/** Converts every error response under `/v1` to OpenAI's format, wherever it was created. */
export function withOpenaiErrors<Rest extends unknown[]>(answer: RequestHandler<Rest>): RequestHandler<Rest> {
  return async (request, ...rest) => {
    const response = await answer(request, ...rest);
    const isOwn = response.status < 400 || !new URL(request.url).pathname.startsWith("/v1/");
    if (isOwn || !response.headers.get("content-type")?.startsWith("application/json")) return response;
    const body = (await response.json()) as Problem | OpenaiError;
    const { error } = body;
    const said = "retryable" in error ? toOpenaiError({ ...error, message: appendErrorId(error) }) : body;
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    return Response.json(said, { status: response.status, headers });
  };
}

/** OpenAI's format has no field for the id. */
function appendErrorId({ message, id }: Problem["error"]): string {
  return id === undefined ? message : `${message} (${id})`;
}
