// The only door to the network for a URL that a model, a page or a server names. Each request goes: parse and judge the
// URL; look its name up once and judge every address; connect to one of those addresses; compare where it led; send.
// A redirect begins again at the first step.
import type { IncomingMessage } from "node:http";
import { asked, checkedAddresses, checkUrl } from "./check-url.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { type Guard, type GuardOptions, toGuard } from "./guard.ts";
import { type GuardedRequest, sendingOf } from "./guarded-request.ts";
import { parseMediaType } from "./media-types.ts";
import { bareHost } from "./names.ts";
import { openSocket } from "./open-socket.ts";
import { codingOf, readBody } from "./read-body.ts";
import { type Arrived, type Hop, redirectOf } from "./redirect.ts";
import { failureOf, refusal } from "./refusal.ts";
import { sendRequest } from "./send-request.ts";

export type { GuardedRequest };

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
