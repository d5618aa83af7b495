import type { Problem } from "../http/problem.ts";
import { toAnthropicError } from "./anthropic-error.ts";
import { toOpenaiError } from "./openai-error.ts";

type RequestHandler<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Promise<Response>;

/**
 * Converts every error response under `/v1` to the format of OpenAI or Anthropic, wherever it was created. Errors that a
 * route has converted stay as they are.
 */
export function withApiErrors<Rest extends unknown[]>(answer: RequestHandler<Rest>): RequestHandler<Rest> {
  return async (request, ...rest) => {
    const response = await answer(request, ...rest);
    const isOwn = response.status < 400 || !new URL(request.url).pathname.startsWith("/v1/");
    if (isOwn || !response.headers.get("content-type")?.startsWith("application/json")) return response;
    const body = (await response.json()) as Problem | { readonly error: object };
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    const init = { status: response.status, headers };
    const { error } = body;
    if (!("retryable" in error)) return Response.json(body, init);
    if (!isAnthropicRequest(request))
      return Response.json(toOpenaiError({ ...error, message: appendErrorId(error) }), init);
    const id = error.id ?? `req_${crypto.randomUUID()}`;
    headers.set("request-id", id);
    return Response.json(toAnthropicError(response.status, error.message, id), init);
  };
}

/** Whether a client of Anthropic's API sent a request. Both APIs list models at the same path. */
export function isAnthropicRequest({ url, headers }: Request): boolean {
  return headers.has("anthropic-version") || /^\/v1\/messages(?:\/|$)/.test(new URL(url).pathname);
}

/** OpenAI's format has no field for the id. */
function appendErrorId({ message, id }: Problem["error"]): string {
  return id === undefined ? message : `${message} (${id})`;
}
