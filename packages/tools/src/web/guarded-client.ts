// The only door to the network for a URL that a model, a page or a server names. Each request goes: parse and judge the
// URL; look its name up once and judge every address; connect to one of those addresses; compare where it led; send.
// A redirect begins again at the first step.
import type { IncomingMessage } from "node:http";
import { AgentError } from "capstan";
import { type Asked, asked, checkedAddresses, checkUrl } from "./check-url.ts";
import { type Guard, type GuardOptions, toGuard } from "./guard.ts";
import { parseMediaType } from "./media-types.ts";
import { bareHost } from "./names.ts";
import { openSocket } from "./open-socket.ts";
import { acceptedCodings, codingOf, readBody } from "./read-body.ts";
import { failureOf, refusal } from "./refusal.ts";
import { type Sending, sendRequest } from "./send-request.ts";

/** What to send. */
export type GuardedRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Whose requests are counted together. */
  readonly run?: string;
};

/** An answer. Its body is read once, by `bytes` or by `body`; who reads neither calls `close`. */
export type GuardedResponse = {
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** "text/html", without parameters. */
  readonly mediaType: string;
  readonly charset?: string;
  readonly body: AsyncIterable<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  close(): void;
};

/** Rejects with `security` for what the guard refuses, which no repetition changes. */
export type GuardedFetch = (url: string | URL, request?: GuardedRequest) => Promise<GuardedResponse>;

/** A client that fetches only what `options` let through. Limits are counted for each client. */
export function guardedFetch(options: GuardOptions = {}): GuardedFetch {
  const guard = toGuard(options);
  return async (url, request = {}) => {
    const deadline = startDeadline(guard, request.signal);
    try {
      const arrived = await followed({ asked: asked(String(url)), request }, guard, deadline);
      return answered(arrived, guard, deadline);
    } catch (thrown) {
      throw deadline.fail(thrown, "The host");
    }
  };
}

type Deadline = {
  readonly signal: AbortSignal;
  /** Ends the connection, and gives the error to throw. */
  fail(thrown: unknown, host: string): unknown;
  end(): void;
};

function startDeadline({ totalMs }: Guard, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const isLate = () =>
    controller.abort(
      new AgentError("tool_timeout", `There was no whole answer within ${totalMs} ms. Try another source.`, {
        retryable: false,
      }),
    );
  const timer = totalMs === "unlimited" ? undefined : setTimeout(isLate, totalMs);
  const stop = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", stop, { once: true });
  if (outer?.aborted) stop();
  const end = () => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", stop);
  };
  return {
    signal,
    end,
    fail(thrown, host) {
      end();
      if (signal.aborted) return signal.reason;
      const failure = failureOf(thrown, host);
      controller.abort(failure);
      return failure;
    },
  };
}

type Hop = { readonly asked: Asked; readonly request: GuardedRequest };
type Arrived = { readonly url: URL; readonly response: IncomingMessage; readonly method: string };

/** Follows redirects by hand: each is a new URL that somebody else has named. */
async function followed(first: Hop, guard: Guard, { signal }: Deadline): Promise<Arrived> {
  let hop = first;
  for (let hops = 0; ; hops += 1) {
    const arrived = await arrivedAt(hop, guard, signal);
    const next = redirectOf(arrived, hop.request, guard);
    if (!next) return arrived;
    arrived.response.destroy();
    if (hops === guard.maxRedirects) {
      const message = `${first.asked.subject} redirects more than ${guard.maxRedirects} times. Try another source.`;
      throw refusal("redirect", message);
    }
    hop = next;
  }
}

async function arrivedAt({ asked, request }: Hop, guard: Guard, signal: AbortSignal): Promise<Arrived> {
  const url = checkUrl(asked, guard);
  const host = bareHost(url.hostname);
  guard.count(host, request.run);
  try {
    const addresses = await checkedAddresses(url, asked.subject, { guard, signal });
    const socket = await openSocket({ url, addresses }, guard, signal);
    const sending = sendingOf(url, request, guard);
    const response = await sendRequest(sending, socket, guard.maxHeaderBytes);
    return { url, response, method: sending.method };
  } catch (thrown) {
    // Who is redirected there did not name the host, so it is not told to them.
    throw failureOf(
      thrown,
      asked.base ? `the place that ${bareHost(asked.base.hostname)} redirects to` : host,
    );
  }
}

/** Where to go on, already judged; nothing when this is the answer. */
function redirectOf({ url, response }: Arrived, request: GuardedRequest, guard: Guard): Hop | undefined {
  const location = locationOf(response, url);
  if (location === undefined) return undefined;
  const asked = { text: location, subject: `A redirect of ${url.hostname}`, base: url };
  const target = checkUrl(asked, guard);
  if (url.protocol === "https:" && target.protocol !== "https:")
    throw refusal("redirect", `${url.hostname} redirects from https to http, which is not followed.`);
  const after = requestAfter(request, response.statusCode ?? 0, target.origin === url.origin);
  if (!after) throw refusal("redirect", `${url.hostname} redirects what was to be sent to another origin.`);
  return { asked, request: after };
}

function locationOf({ statusCode = 0, headersDistinct }: IncomingMessage, url: URL): string | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const [location, ...others] = headersDistinct.location ?? [];
  if (others.length > 0)
    throw refusal("redirect", `${url.hostname} redirects to several places at once, which is not followed.`);
  // Headers are read byte by byte; servers write what is not ASCII in UTF-8.
  return location === undefined ? undefined : Buffer.from(location, "latin1").toString("utf8");
}

/** What is sent to the place of a redirect, or nothing when it is not to be sent there. */
function requestAfter(
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

/** Headers that belong to the connection, and so to this file. */
const connectionHeaders =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|content-length|accept-encoding|upgrade|expect)$/;

const methodOf = ({ method = "GET" }: GuardedRequest): string => method.toUpperCase();

function sendingOf(url: URL, request: GuardedRequest, guard: Guard): Sending {
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

function answered({ url, response, method }: Arrived, guard: Guard, deadline: Deadline): GuardedResponse {
  const { statusCode: status = 0 } = response;
  const host = url.hostname;
  const { essence, charset } = parseMediaType(response.headers["content-type"]);
  // What is no success is told by its status, whatever page comes with it.
  const isSuccess = status >= 200 && status < 300;
  const hasBody =
    method !== "HEAD" && ![204, 205, 304].includes(status) && response.headers["content-length"] !== "0";
  if (isSuccess && hasBody && !guard.acceptsMediaType(essence))
    throw refusal(
      "media_type",
      `${host} answers with ${shownType(essence)}, which is not read. Ask for a text.`,
    );
  const { maxBytes } = guard;
  if (Number(response.headers["content-length"]) > maxBytes)
    throw refusal("size", `The answer of ${host} is larger than ${maxBytes} bytes. Ask for a part of it.`);
  const body = endingWith(deadline, host, readBody(response, codingOf(response, host), { host, maxBytes }));
  return {
    url: url.href,
    status,
    headers: headersOf(response),
    mediaType: essence,
    ...(charset !== undefined && { charset }),
    body,
    bytes: () => joined(body),
    close() {
      deadline.end();
      response.destroy();
    },
  };
}

async function joined(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The words of a header are a stranger's: only what can be a media type is repeated. */
function shownType(essence: string): string {
  return /^[\w-]{1,20}\/[\w.+-]{1,40}$/.test(essence) ? essence : "no known media type";
}

/** The body; whatever ends it ends the deadline too, and what breaks it is told as an error of ours. */
async function* endingWith(
  deadline: Deadline,
  host: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
    // A body without a length ends with its connection, also when that was ended from here.
    deadline.signal.throwIfAborted();
  } catch (thrown) {
    throw deadline.fail(thrown, host);
  } finally {
    deadline.end();
  }
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}
