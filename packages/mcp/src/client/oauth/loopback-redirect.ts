import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { areSecretsEqual } from "./compare-secrets.ts";
import type { AuthorizationRequest, Redirect } from "./redirect.ts";
import { createSignInError } from "./sign-in-error.ts";

export type LoopbackOptions = {
  /** Shows the URL to the user, in full. Nothing is opened unless this function does it. */
  readonly open: (url: string, server: string) => void | Promise<void>;
  /** Part of the registered URL, so it must not change between starts. */
  readonly port?: number;
  readonly timeoutMs?: number;
};

const callbackPath = "/callback";
const defaultPort = 18_917;
const defaultTimeoutMs = 300_000;

/**
 * Receives the response with a listener on 127.0.0.1 that exists only during a sign-in and accepts one response. One
 * redirect can serve many servers; their sign-ins run one after the other.
 */
export function loopbackRedirect({
  open,
  port = defaultPort,
  timeoutMs = defaultTimeoutMs,
}: LoopbackOptions): Redirect {
  let last: Promise<unknown> = Promise.resolve();
  return {
    url: `http://127.0.0.1:${port}${callbackPath}`,
    authorize(request) {
      const turn = last.then(() => receiveResponse(request, { open, port, timeoutMs }));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function receiveResponse(
  request: AuthorizationRequest,
  { open, port, timeoutMs }: Required<LoopbackOptions>,
): Promise<URLSearchParams> {
  request.signal.throwIfAborted();
  const answer = Promise.withResolvers<URLSearchParams>();
  const fail = (problem: string) => answer.reject(createSignInError(request.server, problem));
  const listener = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 }, (incoming, response) =>
    handleCallback(incoming, response, {
      host: `127.0.0.1:${port}`,
      state: request.state,
      accept: answer.resolve,
    }),
  );
  const timer = setTimeout(() => fail(`timed out after ${timeoutMs / 1000} s. Try again`), timeoutMs);
  const abort = () => answer.reject(request.signal.reason);
  request.signal.addEventListener("abort", abort);
  answer.promise.catch(() => undefined); // it may reject before it is awaited
  try {
    await startListening(listener, port, request.server);
    showUrl(open, request).catch(() => fail("the URL could not be shown"));
    return await answer.promise;
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", abort);
    await closeListener(listener);
  }
}

async function showUrl(open: LoopbackOptions["open"], { url, server }: AuthorizationRequest): Promise<void> {
  await open(url.href, server);
}

type ExpectedCallback = {
  readonly host: string;
  readonly state: string;
  readonly accept: (query: URLSearchParams) => void;
};

function handleCallback(
  request: IncomingMessage,
  response: ServerResponse,
  expected: ExpectedCallback,
): void {
  const [requestPath = "", ...rest] = (request.url ?? "").split("?");
  const query = new URLSearchParams(rest.join("?"));
  const states = query.getAll("state");
  if (request.headers.host !== expected.host) sendPage(response, 421, "Wrong host.");
  else if (requestPath !== callbackPath) sendPage(response, 404, "Not found.");
  else if (request.method !== "GET") sendPage(response, 405, "Method not allowed.");
  else if (states.length !== 1 || !areSecretsEqual(states[0] ?? "", expected.state))
    sendPage(response, 400, "This response does not match the current sign-in. Start again.");
  else {
    response.once("close", () => expected.accept(query));
    sendPage(response, 200, "Signed in. You can close this page.");
  }
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(`${text}\n`);
}

async function startListening(listener: Server, port: number, server: string): Promise<void> {
  listener.listen(port, "127.0.0.1");
  try {
    await once(listener, "listening");
  } catch (error) {
    const problem = `cannot listen on 127.0.0.1:${port} (${(error as NodeJS.ErrnoException).code})`;
    throw createSignInError(server, `${problem}. Free that port or choose another`);
  }
}

async function closeListener(listener: Server): Promise<void> {
  if (!listener.listening) return;
  const closed = Promise.withResolvers<void>();
  listener.close(() => closed.resolve());
  listener.closeAllConnections();
  await closed.promise;
}
