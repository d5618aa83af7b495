import type { Guard } from "./guard.ts";
import { acceptedCodings } from "./read-body.ts";
import type { OutgoingRequest } from "./send-request.ts";

export type GuardedRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Requests with the same value share a limit. */
  readonly run?: string;
};

/** Headers that the client controls itself. */
const connectionHeaders =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|content-length|accept-encoding|upgrade|expect)$/;

const getMethod = ({ method = "GET" }: GuardedRequest): string => method.toUpperCase();

export function toOutgoingRequest(url: URL, request: GuardedRequest, guard: Guard): OutgoingRequest {
  const { headers = {}, body } = request;
  const ownHeaders = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    url,
    method: getMethod(request),
    headers: {
      "user-agent": guard.userAgent,
      accept: "text/html, text/markdown, application/json, text/*, application/pdf;q=0.9, */*;q=0.1",
      ...Object.fromEntries(ownHeaders.filter(([name]) => !connectionHeaders.test(name))),
      "accept-encoding": acceptedCodings,
      host: url.host,
      connection: "close",
    },
    ...(body !== undefined && { body }),
  };
}

/** Builds the request for a redirect. Returns undefined if the body must not be sent to another origin. */
export function buildRedirectRequest(
  request: GuardedRequest,
  status: number,
  isSameOrigin: boolean,
): GuardedRequest | undefined {
  const { body, headers = {}, ...rest } = request;
  const method = getMethod(request);
  const isRead = method === "GET" || method === "HEAD";
  const becomesGet = !isRead && (status === 303 || (status < 303 && method === "POST"));
  if (!isSameOrigin && !isRead && !becomesGet) return undefined;
  const userAgentHeaders = Object.entries(headers).filter(([name]) => name.toLowerCase() === "user-agent");
  return {
    ...rest,
    method: becomesGet ? "GET" : method,
    headers: isSameOrigin ? headers : Object.fromEntries(userAgentHeaders),
    ...(body !== undefined && !becomesGet && { body }),
  };
}
