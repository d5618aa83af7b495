import type { FetchLike } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { checkDestination } from "./check-destination.ts";
import {
  type OAuthLimits,
  type OAuthResponse,
  readOAuthResponse,
  toFetchError,
  toResponse,
} from "./oauth-response.ts";

const defaultLimits: OAuthLimits = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };

const refreshReuseMs = 5000;

/** Headers that other origins than the configured server may receive. Basic authenticates a client for a token. */
const forwardedHeaders = ["accept", "content-type", "mcp-protocol-version"];

/**
 * Creates a `fetch` for a server with OAuth. Messages and the access token go only to the configured origin. Every other
 * request belongs to a sign-in: its destination is checked, redirects are not followed, and responses are limited in
 * size and time. DNS answers are not checked; `fetch` may be a stricter one.
 */
export function createOAuthFetch(
  serverUrl: string | URL,
  fetch: FetchLike = globalThis.fetch,
  limits: Partial<OAuthLimits> = {},
): FetchLike {
  const server = new URL(serverUrl);
  const { maxBytes, timeoutMs } = { ...defaultLimits, ...limits };
  const refreshOnce = createRefreshGuard();
  return async (input, init = {}) => {
    const url = new URL(input);
    const problem = checkDestination(server, url);
    if (problem) throw createRefusalError(server, url, problem);
    const headers = new Headers(init.headers);
    const isServerOrigin = url.origin === server.origin;
    if (headers.get("accept")?.includes("text/event-stream")) {
      if (!isServerOrigin)
        throw createRefusalError(
          server,
          url,
          "it is not the configured server. Configure that URL if it is correct",
        );
      return fetch(url, { ...init, redirect: "manual" });
    }
    const request = {
      ...init,
      headers: isServerOrigin ? headers : pickForwardedHeaders(headers, init.method),
      redirect: "manual" as const,
    };
    const send = () =>
      fetchWithTimeout(timeoutMs, url, async (limit) => {
        const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
        return readOAuthResponse(await fetch(url, { ...request, signal }), url, maxBytes);
      });
    const key = getRefreshKey(url, init);
    return toResponse(await (key === undefined ? send() : refreshOnce(key, send)), url);
  };
}

function pickForwardedHeaders(headers: Headers, method = "GET"): Headers {
  const forwarded = new Headers();
  for (const name of forwardedHeaders) {
    const value = headers.get(name);
    if (value !== null) forwarded.set(name, value);
  }
  const authorization = headers.get("authorization");
  const isForm = headers.get("content-type")?.startsWith("application/x-www-form-urlencoded");
  if (method === "POST" && isForm && authorization && /^Basic [^\s,]+$/.test(authorization))
    forwarded.set("authorization", authorization);
  return forwarded;
}

function getRefreshKey(url: URL, { method, body }: RequestInit): string | undefined {
  const isRefresh =
    method === "POST" && body instanceof URLSearchParams && body.get("grant_type") === "refresh_token";
  return isRefresh ? `${url.href} ${body}` : undefined;
}

/** Also stops waiting for a `fetch` that ignores its signal. */
async function fetchWithTimeout(
  timeoutMs: number,
  url: URL,
  work: (limit: AbortSignal) => Promise<OAuthResponse>,
): Promise<OAuthResponse> {
  const controller = new AbortController();
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `${url.origin} did not respond within ${timeoutMs} ms during sign-in. Try again later.`;
    timeout.reject(toFetchError(new AgentError("mcp_disconnected", message)));
    controller.abort();
  }, timeoutMs);
  try {
    return await Promise.race([work(controller.signal), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Names only origin and path: the rest may contain a secret. */
function createRefusalError(server: URL, url: URL, problem: string): TypeError {
  const displayedUrl = /^https?:$/.test(url.protocol)
    ? `${url.origin}${url.pathname.slice(0, 200)}`
    : url.protocol;
  const message = `The MCP server at ${server.origin} names ${displayedUrl} for its sign-in, which was refused: ${problem}.`;
  return toFetchError(new AgentError("security", message));
}

/**
 * Merges concurrent requests with the same refresh token. Parallel calls all see an expired token, and an authorization
 * server that rotates refresh tokens would treat a second use as theft.
 */
function createRefreshGuard(): (key: string, send: () => Promise<OAuthResponse>) => Promise<OAuthResponse> {
  const pendingResponses = new Map<string, Promise<OAuthResponse>>();
  return (key, send) => {
    const known = pendingResponses.get(key);
    if (known) return known;
    const answer = send();
    pendingResponses.set(key, answer);
    const forget = () => pendingResponses.delete(key);
    // Kept briefly for callers that read the old token before the new one was saved.
    answer.then(
      ({ status }) => (status === 200 ? void setTimeout(forget, refreshReuseMs).unref() : forget()),
      forget,
    );
    return answer;
  };
}
