// The only way to the network for URLs supplied by a model, a page or a server. Each request: parse and check the URL,
// resolve its host once and check every address, connect to one of them, verify the peer address, send. A redirect starts
// over at the first step.
import type { IncomingMessage } from "node:http";
import { checkUrl, resolveAddresses, toUrlRequest } from "./check-url.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { type Guard, type GuardOptions, toGuard } from "./guard.ts";
import { createGuardRefusal, toFetchError } from "./guard-errors.ts";
import { type GuardedRequest, toOutgoingRequest } from "./guarded-request.ts";
import { normalizeHost } from "./host-names.ts";
import { parseMediaType } from "./media-types.ts";
import { openSocket } from "./open-socket.ts";
import { parseCoding, readBody } from "./read-body.ts";
import { findRedirect, type Hop, type HopResponse } from "./redirect.ts";
import { sendRequest } from "./send-request.ts";

export type { GuardedRequest, GuardOptions };

/** Read the body once, with `bytes` or `body`, or call `close`. */
export type GuardedResponse = {
  /** The URL after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** Without parameters, such as "text/html". */
  readonly mediaType: string;
  readonly charset?: string;
  readonly body: AsyncIterable<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  close(): void;
};

/** Rejects with `security` if the guard refuses; such errors are not retryable. */
export type GuardedFetch = (url: string | URL, request?: GuardedRequest) => Promise<GuardedResponse>;

/** Creates a client that fetches only what `options` allow. Each client has its own rate limits. */
export function guardedFetch(options: GuardOptions = {}): GuardedFetch {
  const guard = toGuard(options);
  return async (url, request = {}) => {
    const deadline = startDeadline(guard, request.signal);
    try {
      const hopResponse = await followRedirects(
        { target: toUrlRequest(String(url)), request },
        guard,
        deadline,
      );
      return toGuardedResponse(hopResponse, guard, deadline);
    } catch (thrown) {
      throw deadline.fail(thrown, "The host");
    }
  };
}

/** Each redirect is a new untrusted URL, so it goes through all checks. */
async function followRedirects(first: Hop, guard: Guard, { signal }: Deadline): Promise<HopResponse> {
  let hop = first;
  for (let hops = 0; ; hops += 1) {
    const hopResponse = await requestHop(hop, guard, signal);
    const next = findRedirect(hopResponse, hop.request, guard);
    if (!next) return hopResponse;
    hopResponse.response.destroy();
    if (hops === guard.maxRedirects) {
      const message = `${first.target.subject} redirects more than ${guard.maxRedirects} times. Use another source.`;
      throw createGuardRefusal("redirect", message);
    }
    hop = next;
  }
}

async function requestHop({ target, request }: Hop, guard: Guard, signal: AbortSignal): Promise<HopResponse> {
  const url = checkUrl(target, guard);
  const host = normalizeHost(url.hostname);
  guard.count(host, request.run);
  try {
    const addresses = await resolveAddresses(url, target.subject, { guard, signal });
    const socket = await openSocket({ url, addresses }, guard, signal);
    const outgoing = toOutgoingRequest(url, request, guard);
    const response = await sendRequest(outgoing, socket, guard.maxHeaderBytes);
    return { url, response, method: outgoing.method };
  } catch (thrown) {
    // The caller did not supply the host of a redirect, so the message does not name it.
    throw toFetchError(
      thrown,
      target.base ? `the redirect target of ${normalizeHost(target.base.hostname)} redirects to` : host,
    );
  }
}

function toGuardedResponse(
  { url, response, method }: HopResponse,
  guard: Guard,
  deadline: Deadline,
): GuardedResponse {
  const { statusCode: status = 0 } = response;
  const host = url.hostname;
  const { essence, charset } = parseMediaType(response.headers["content-type"]);
  // Other statuses are reported by the caller, whatever their body is.
  const isSuccess = status >= 200 && status < 300;
  const hasBody =
    method !== "HEAD" && ![204, 205, 304].includes(status) && response.headers["content-length"] !== "0";
  if (isSuccess && hasBody && !guard.acceptsMediaType(essence))
    throw createGuardRefusal(
      "media_type",
      `${host} returned ${formatMediaType(essence)}, which is not supported. Request a text format.`,
    );
  const { maxBytes } = guard;
  if (Number(response.headers["content-length"]) > maxBytes)
    throw createGuardRefusal(
      "size",
      `The response of ${host} is larger than ${maxBytes} bytes. Request a part of it.`,
    );
  const body = withDeadline(
    deadline,
    host,
    readBody(response, parseCoding(response, host), { host, maxBytes }),
  );
  return {
    url: url.href,
    status,
    headers: toHeaders(response),
    mediaType: essence,
    ...(charset !== undefined && { charset }),
    body,
    bytes: () => readAllBytes(body),
    close() {
      deadline.end();
      response.destroy();
    },
  };
}

async function readAllBytes(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Header text is untrusted: only a well-formed media type is repeated. */
function formatMediaType(essence: string): string {
  return /^[\w-]{1,20}\/[\w.+-]{1,40}$/.test(essence) ? essence : "an unknown media type";
}

/** Ends the deadline with the body and converts errors. */
async function* withDeadline(
  deadline: Deadline,
  host: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
    // A body without a length ends with its connection, even if the deadline closed it.
    deadline.signal.throwIfAborted();
  } catch (thrown) {
    throw deadline.fail(thrown, host);
  } finally {
    deadline.end();
  }
}

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}
