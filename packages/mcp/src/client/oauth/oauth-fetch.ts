import type { FetchLike } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { type Answer, boundedAnswer, type OAuthLimits, stopped, toResponse } from "./bounded-answer.ts";
import { destinationProblem } from "./destination.ts";
import { singleRefresh } from "./single-refresh.ts";

const defaultLimits: OAuthLimits = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };

/** What another origin than the configured server's may be told. Basic is how a client authenticates for a token. */
const headersForOthers = ["accept", "content-type", "mcp-protocol-version"];

/**
 * A `fetch` for a server with OAuth. Messages go to the configured origin alone, and only there the access token.
 * Everything else is part of a sign-in: who is asked is checked, redirects are not followed, answers are bounded in
 * size and time. Names are not resolved here; `fetch` may be a stricter one that looks at addresses.
 */
export function oauthFetch(
  serverUrl: string | URL,
  fetch: FetchLike = globalThis.fetch,
  limits: Partial<OAuthLimits> = {},
): FetchLike {
  const server = new URL(serverUrl);
  const { maxBytes, timeoutMs } = { ...defaultLimits, ...limits };
  const refreshOnce = singleRefresh();
  return async (input, init = {}) => {
    const url = new URL(input);
    const problem = destinationProblem(server, url);
    if (problem) throw refused(server, url, problem);
    const headers = new Headers(init.headers);
    const isOwn = url.origin === server.origin;
    if (headers.get("accept")?.includes("text/event-stream")) {
      if (!isOwn)
        throw refused(server, url, "it is not the configured server. Configure that URL if it is meant");
      return fetch(url, { ...init, redirect: "manual" });
    }
    const request = {
      ...init,
      headers: isOwn ? headers : reduced(headers, init.method),
      redirect: "manual" as const,
    };
    const ask = () =>
      within(timeoutMs, url, async (limit) => {
        const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
        return boundedAnswer(await fetch(url, { ...request, signal }), url, maxBytes);
      });
    const key = refreshKey(url, init);
    return toResponse(await (key === undefined ? ask() : refreshOnce(key, ask)), url);
  };
}

function reduced(headers: Headers, method = "GET"): Headers {
  const kept = new Headers();
  for (const name of headersForOthers) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  const authorization = headers.get("authorization");
  const isForm = headers.get("content-type")?.startsWith("application/x-www-form-urlencoded");
  if (method === "POST" && isForm && authorization && /^Basic [^\s,]+$/.test(authorization))
    kept.set("authorization", authorization);
  return kept;
}

function refreshKey(url: URL, { method, body }: RequestInit): string | undefined {
  const isRefresh =
    method === "POST" && body instanceof URLSearchParams && body.get("grant_type") === "refresh_token";
  return isRefresh ? `${url.href} ${body}` : undefined;
}

/** Also ends the wait for a `fetch` that does not listen to its signal. */
async function within(
  timeoutMs: number,
  url: URL,
  work: (limit: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `${url.origin} did not answer within ${timeoutMs} ms while signing in. Try again later.`;
    late.reject(stopped(new AgentError("mcp_disconnected", message)));
    controller.abort();
  }, timeoutMs);
  try {
    return await Promise.race([work(controller.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Names origin and path alone: the rest may carry a secret. */
function refused(server: URL, url: URL, problem: string): TypeError {
  const shown = /^https?:$/.test(url.protocol) ? `${url.origin}${url.pathname.slice(0, 200)}` : url.protocol;
  const message = `The MCP server at ${server.origin} names ${shown} for its sign-in, which is not asked: ${problem}.`;
  return stopped(new AgentError("security", message));
}
