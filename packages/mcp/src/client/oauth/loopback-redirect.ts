import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AuthorizationRequest, Redirect } from "./redirect.ts";
import { isSameSecret } from "./same-secret.ts";
import { signInProblem } from "./sign-in-failure.ts";

/** How to receive the answer on this computer. */
export type LoopbackOptions = {
  /** Shows the URL to a person, in full. Nothing is opened unless this does it. */
  readonly open: (url: string, server: string) => void | Promise<void>;
  /** It is part of the registered URL, so it stays the same from start to start. */
  readonly port?: number;
  readonly timeoutMs?: number;
};

const path = "/callback";
const defaultPort = 18_917;
const defaultTimeoutMs = 300_000;

/**
 * Receives the answer with a listener on 127.0.0.1, which is there only while a person is asked and takes one answer.
 * One redirect serves many servers: they are asked one after the other.
 */
export function loopbackRedirect({
  open,
  port = defaultPort,
  timeoutMs = defaultTimeoutMs,
}: LoopbackOptions): Redirect {
  let last: Promise<unknown> = Promise.resolve();
  return {
    url: `http://127.0.0.1:${port}${path}`,
    authorize(request) {
      const turn = last.then(() => receive(request, { open, port, timeoutMs }));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function receive(
  request: AuthorizationRequest,
  { open, port, timeoutMs }: Required<LoopbackOptions>,
): Promise<URLSearchParams> {
  request.signal.throwIfAborted();
  const answer = Promise.withResolvers<URLSearchParams>();
  const fail = (problem: string) => answer.reject(signInProblem(request.server, problem));
  const listener = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 }, (incoming, response) =>
    judge(incoming, response, { host: `127.0.0.1:${port}`, state: request.state, accept: answer.resolve }),
  );
  const timer = setTimeout(() => fail(`nobody did so within ${timeoutMs / 1000} s. Try again`), timeoutMs);
  const abort = () => answer.reject(request.signal.reason);
  request.signal.addEventListener("abort", abort);
  answer.promise.catch(() => undefined); // it may fail while `listen` is awaited
  try {
    await listen(listener, port, request.server);
    show(open, request).catch(() => fail("the URL could not be shown"));
    return await answer.promise;
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", abort);
    await close(listener);
  }
}

async function show(open: LoopbackOptions["open"], { url, server }: AuthorizationRequest): Promise<void> {
  await open(url.href, server);
}

type Expected = {
  readonly host: string;
  readonly state: string;
  readonly accept: (query: URLSearchParams) => void;
};

function judge(request: IncomingMessage, response: ServerResponse, expected: Expected): void {
  const [asked = "", ...rest] = (request.url ?? "").split("?");
  const query = new URLSearchParams(rest.join("?"));
  const given = query.getAll("state");
  if (request.headers.host !== expected.host) respond(response, 421, "This is not the address of this page.");
  else if (asked !== path) respond(response, 404, "There is nothing here.");
  else if (request.method !== "GET") respond(response, 405, "Only GET is possible.");
  else if (given.length !== 1 || !isSameSecret(given[0] ?? "", expected.state))
    respond(response, 400, "This is not an answer to the question that is open. Start again.");
  else {
    response.once("close", () => expected.accept(query));
    respond(response, 200, "The answer has arrived. You can close this page and go back.");
  }
}

function respond(response: ServerResponse, status: number, text: string): void {
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

async function listen(listener: Server, port: number, server: string): Promise<void> {
  listener.listen(port, "127.0.0.1");
  try {
    await once(listener, "listening");
  } catch (error) {
    const problem = `the answer cannot be received on 127.0.0.1:${port} (${(error as NodeJS.ErrnoException).code})`;
    throw signInProblem(server, `${problem}. Free that port or choose another`);
  }
}

async function close(listener: Server): Promise<void> {
  if (!listener.listening) return;
  const closed = Promise.withResolvers<void>();
  listener.close(() => closed.resolve());
  listener.closeAllConnections();
  await closed.promise;
}
