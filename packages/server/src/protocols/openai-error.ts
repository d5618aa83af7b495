import { type ErrorCode, errorCodes } from "capstan";
import type { Problem } from "../http/problem.ts";

/** The body of every error under `/v1`. */
export type OpenaiProblem = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
};

/** Codes that clients of this API know by another name. */
const names: { readonly [code: string]: string } = {
  unknown_agent: "model_not_found",
  unauthorized: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  model_rate_limited: "rate_limit_exceeded",
  context_overflow: "context_length_exceeded",
  // Of the provider behind the agent: its own name would blame the key or the model of the request.
  model_auth: "upstream_error",
  model_not_found: "upstream_error",
};

/** A failure of the provider is not one of the request, whatever the provider called it. */
const statuses: { readonly [code: string]: number } = {
  model_auth: 502,
  model_not_found: 502,
  context_overflow: 400,
  cancelled: 503,
  aborted: 503,
};

/** An error as this API writes it. */
export function openaiProblem({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): OpenaiProblem {
  const name = names[code] ?? code;
  const param = code === "unknown_agent" ? "model" : null;
  return { error: { message, type: typeOf(openaiStatus(code)), param, code: name } };
}

/** The status of a run that failed. */
export function openaiStatus(code: string): number {
  return statuses[code] ?? (Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : 500);
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

type Answering<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Promise<Response>;

/** Whatever refuses a request under `/v1`, wherever in the server, says so in the words of that API. */
export function withOpenaiProblems<Rest extends unknown[]>(answer: Answering<Rest>): Answering<Rest> {
  return async (request, ...rest) => {
    const response = await answer(request, ...rest);
    const isOwn = response.status < 400 || !new URL(request.url).pathname.startsWith("/v1/");
    if (isOwn || !response.headers.get("content-type")?.startsWith("application/json")) return response;
    const body = (await response.json()) as Problem | OpenaiProblem;
    const { error } = body;
    const said = "retryable" in error ? openaiProblem({ ...error, message: worded(error) }) : body;
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    return Response.json(said, { status: response.status, headers });
  };
}

/** There is no field for the id. */
function worded({ message, id }: Problem["error"]): string {
  return id === undefined ? message : `${message} (${id})`;
}
