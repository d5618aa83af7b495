import type { AgentError } from "capstan";
import type { Cors } from "./cors.ts";
import { createInternalProblem, createProblemResponse, isClientError } from "./problem.ts";

/** See `Server.fetch`. */
export type Fetch = (request: Request, arrivedAt?: readonly string[]) => Promise<Response>;

type SecurityOptions = {
  readonly cors: Cors | undefined;
  /** Logs an internal error and returns its log id. */
  report(thrown: unknown): string;
};

const securityHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
};

/** Set unless the response has its own. */
const defaultHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

/** Adds security and CORS headers to every response, including errors, and answers HEAD like GET without a body. */
export function withSecurityHeaders(fetch: Fetch, { cors, report }: SecurityOptions): Fetch {
  return async (request, arrivedAt) => {
    const isHead = request.method === "HEAD";
    const response = await handleErrors(
      () => fetch(isHead ? toGetRequest(request) : request, arrivedAt),
      report,
    );
    const answer = addHeaders(response, cors?.getHeaders(request) ?? {});
    if (!isHead) return answer;
    await answer.body?.cancel();
    return new Response(null, answer);
  };
}

/** Creates an error response for input that never became a request. */
export function toErrorResponse(problem: AgentError): Response {
  return addHeaders(createProblemResponse(problem), {});
}

async function handleErrors(
  ask: () => Promise<Response>,
  report: SecurityOptions["report"],
): Promise<Response> {
  try {
    return await ask();
  } catch (thrown) {
    return isClientError(thrown) ? createProblemResponse(thrown) : createInternalProblem(report(thrown));
  }
}

function toGetRequest({ url, headers, signal }: Request): Request {
  return new Request(url, { headers, signal });
}

function addHeaders(response: Response, extraHeaders: Readonly<Record<string, string>>): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(defaultHeaders))
    if (!headers.has(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(securityHeaders)) headers.set(name, value);
  for (const [name, value] of Object.entries(extraHeaders)) headers.append(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}
