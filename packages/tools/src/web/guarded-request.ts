import type { Guard } from "./guard.ts";
import { acceptedCodings } from "./read-body.ts";
import type { Sending } from "./send-request.ts";

/** What to send. */
export type GuardedRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Whose requests are counted together. */
  readonly run?: string;
};

/** Headers that belong to the connection, and so to this file. */
const connectionHeaders =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|content-length|accept-encoding|upgrade|expect)$/;

const methodOf = ({ method = "GET" }: GuardedRequest): string => method.toUpperCase();

/** The request as it goes over the connection. */
export function sendingOf(url: URL, request: GuardedRequest, guard: Guard): Sending {
  const { headers = {}, body } = request;
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    url,
    method: methodOf(request),
    headers: {
      "user-agent": guard.userAgent,
      accept: "text/html, text/markdown, application/json, text/*, application/pdf;q=0.9, */*;q=0.1",
      ...Object.fromEntries(own.filter(([name]) => !connectionHeaders.test(name))),
      "accept-encoding": acceptedCodings,
      host: url.host,
      connection: "close",
    },
    ...(body !== undefined && { body }),
  };
}

/** What is sent to the place of a redirect, or nothing when it is not to be sent there. */
export function requestAfter(
  request: GuardedRequest,
  status: number,
  isSameOrigin: boolean,
): GuardedRequest | undefined {
  const { body, headers = {}, ...rest } = request;
  const method = methodOf(request);
  const isRead = method === "GET" || method === "HEAD";
  const becomesGet = !isRead && (status === 303 || (status < 303 && method === "POST"));
  if (!isSameOrigin && !isRead && !becomesGet) return undefined;
  const agents = Object.entries(headers).filter(([name]) => name.toLowerCase() === "user-agent");
  return {
    ...rest,
    method: becomesGet ? "GET" : method,
    headers: isSameOrigin ? headers : Object.fromEntries(agents),
    ...(body !== undefined && !becomesGet && { body }),
  };
}
