import type { AgentError } from "capstan";
import type { Cors } from "./cors.ts";
import { internalProblem, isForClients, problemResponse } from "./problem.ts";

/** How requests come in, see `Server.fetch`. */
export type Fetch = (request: Request, arrivedAt?: readonly string[]) => Promise<Response>;

type Hardening = {
  readonly cors: Cors;
  /** Keeps what went wrong inside, and gives the id that the client is told. */
  report(thrown: unknown): string;
};

const standard: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
};

/** For what is not its own to say: an answer of an interface is no page. */
const unlessSaid: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

/** Puts what every answer must carry on every answer, also on those to errors, and answers HEAD as GET without the body. */
export function hardened(fetch: Fetch, { cors, report }: Hardening): Fetch {
  return async (request, arrivedAt) => {
    const isHead = request.method === "HEAD";
    const response = await answered(() => fetch(isHead ? asGet(request) : request, arrivedAt), report);
    const answer = carrying(response, cors.headersFor(request));
    if (!isHead) return answer;
    await answer.body?.cancel();
    return new Response(null, answer);
  };
}

/** An error as an answer, where no request could be made of what came in. */
export function answerTo(problem: AgentError): Response {
  return carrying(problemResponse(problem), {});
}

async function answered(ask: () => Promise<Response>, report: Hardening["report"]): Promise<Response> {
  try {
    return await ask();
  } catch (thrown) {
    return isForClients(thrown) ? problemResponse(thrown) : internalProblem(report(thrown));
  }
}

function asGet({ url, headers, signal }: Request): Request {
  return new Request(url, { headers, signal });
}

function carrying(response: Response, more: Readonly<Record<string, string>>): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(unlessSaid)) if (!headers.has(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(standard)) headers.set(name, value);
  for (const [name, value] of Object.entries(more)) headers.append(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}
