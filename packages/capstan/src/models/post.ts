import type { Agent, AgentOptions, IncomingMessage, request } from "node:http";
import { type Clock, systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { withCache } from "./with-cache.ts";

/** A POST request with a text body. */
export type PostRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** The response, available once its headers arrived. */
export type PostResponse = {
  readonly status: number;
  /** Looks up a header by its lower-case name. */
  header(name: string): string | undefined;
  /** Passes the body to `onBytes` as it arrives; returning `false` stops. Rejects when the connection breaks or `onBytes` throws. */
  read(onBytes: (bytes: Uint8Array) => undefined | false): Promise<void>;
};

export type PostFunction = (posting: PostRequest) => Promise<PostResponse>;

const nativeFetch = globalThis.fetch;

/**
 * Sends a request. Uses Node's HTTP client where available, at a third of the cost of its `fetch` (see bench/); a
 * custom or replaced `fetch` takes precedence.
 */
export function post(posting: PostRequest, fetch?: typeof globalThis.fetch): Promise<PostResponse> {
  // Looked up on each call, so that a global `fetch` replaced later is used.
  const chosen = fetch ?? (globalThis.fetch === nativeFetch ? undefined : globalThis.fetch);
  return chosen || !postWithNode ? createFetchPost(chosen ?? nativeFetch)(posting) : postWithNode(posting);
}

export const createFetchPost =
  (fetch: typeof globalThis.fetch): PostFunction =>
  async ({ url, ...init }) => {
    const { status, headers, body } = await fetch(url, { method: "POST", redirect: "error", ...init });
    return {
      status,
      header: (name) => headers.get(name) ?? undefined,
      async read(onBytes) {
        const reader = body?.getReader();
        if (!reader) return;
        try {
          for (;;) {
            const { done, value } = await reader.read();
            if (done || onBytes(value) === false) return;
          }
        } finally {
          // Not awaited: a hanging connection would block here.
          reader.cancel().catch(() => undefined);
        }
      },
    };
  };

type GetBuiltin = typeof process.getBuiltinModule;
type NodeClient = { readonly request: typeof request; readonly agent: Agent };

/** Looked up at run time instead of imported, so that browser bundles do not contain it. */
const getBuiltin = (globalThis as { process?: { getBuiltinModule?: GetBuiltin } }).process?.getBuiltinModule;

/** Node's own HTTP client. Redirects are not followed. */
export const postWithNode: PostFunction | undefined =
  getBuiltin &&
  ((posting) => sendWithNode(posting, getNodeClient(posting.url, getBuiltin)).then(toPostResponse));

const clients = new Map<string, NodeClient>();

/** Copies the settings of the global agent, including its proxy configuration. */
function getNodeClient(url: string, builtin: GetBuiltin): NodeClient {
  const protocol = url.startsWith("https:") ? "https" : "http";
  const known = clients.get(protocol);
  if (known) return known;
  const { request, Agent, globalAgent } = builtin(protocol) as typeof import("node:http");
  const { options } = globalAgent as Agent & { readonly options: AgentOptions };
  // Runs that pause for tools keep their connections open; the global agent would keep only 256 of them.
  const agent = new Agent({ ...options, maxFreeSockets: 4096 });
  const client = { request, agent };
  clients.set(protocol, client);
  return client;
}

/** Splits a URL for Node, which would keep a large object of it per request. IPv6 hosts have brackets in a URL. */
const splitUrl = withCache((url) => {
  const { hostname, port, pathname, search } = new URL(url);
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port, path: pathname + search };
});

function sendWithNode(posting: PostRequest, { request, agent }: NodeClient): Promise<IncomingMessage> {
  const { url, body, signal } = posting;
  const headers = { ...posting.headers, "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sent = request({ ...splitUrl(url), method: "POST", headers, agent }, (response) => {
      isAnswered = true;
      resolve(response);
    });
    sent.on("error", (error: Error & { code?: string }) => {
      // The server closed a kept-alive connection: retry on a new one.
      const isStale = sent.reusedSocket && error.code === "ECONNRESET" && !isAnswered;
      if (isStale && !signal.aborted) resolve(sendWithNode(posting, { request, agent }));
      else reject(error);
    });
    // Not passed as a request option, which would cost half as much as the request itself.
    signal.addEventListener("abort", () => sent.destroy(signal.reason), { once: true });
    if (signal.aborted) sent.destroy(signal.reason);
    else sent.end(body);
  });
}

function toPostResponse(response: IncomingMessage): PostResponse {
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    read: (onBytes) => readNodeBody(response, onBytes),
  };
}

/** Uses stream events: Node's async iterator costs as much per read as parsing the bytes. */
function readNodeBody(
  response: IncomingMessage,
  onBytes: Parameters<PostResponse["read"]>[0],
): Promise<void> {
  return new Promise((resolve, reject) => {
    function stop(): void {
      response.destroy();
      resolve();
    }
    response.on("data", (bytes: Uint8Array) => {
      try {
        if (onBytes(bytes) === false) stop();
      } catch (thrown) {
        reject(thrown);
        response.destroy();
      }
    });
    response.on("end", resolve);
    response.on("error", reject);
  });
}

/** Time limits for a response. */
export type Timeouts = {
  /** From the request to the first byte. Default: 120,000. */
  readonly firstByteMs: number;
  /** Between two reads. Default: 60,000. */
  readonly idleMs: number;
};

const defaultTimeouts: Timeouts = { firstByteMs: 120_000, idleMs: 60_000 };

export type IdleTimer = {
  /** Aborts with the caller's signal or on a timeout. */
  readonly signal: AbortSignal;
  /** Restarts the idle timeout after a read. */
  reset(): void;
  /** Returns the timeout error, if a timeout caused the abort. */
  getFailure(): AgentError | undefined;
  /** Aborts the request because its reader stopped. */
  abort(): void;
  stop(): void;
};

/** Uses real time by default, not the run's clock, because it limits a network connection. */
export function createIdleTimer(
  signal: AbortSignal,
  timeouts: Partial<Timeouts> = {},
  clock: Clock = systemClock,
): IdleTimer {
  const { firstByteMs, idleMs } = { ...defaultTimeouts, ...timeouts };
  const controller = new AbortController();
  let failure: AgentError | undefined;
  let lastReadAt: number | undefined;
  let cancelTimer = clock.after(firstByteMs, check);

  // The timer is not restarted on every read, which would cost more than the read itself: when it fires, it checks
  // the time of the last read.
  function check(): void {
    const remainingMs = lastReadAt === undefined ? 0 : lastReadAt + idleMs - clock.monotonic();
    if (remainingMs > 0) cancelTimer = clock.after(remainingMs, check);
    else timeOut();
  }
  function timeOut(): void {
    const [ms, when] =
      lastReadAt === undefined ? [firstByteMs, "after the request"] : [idleMs, "in mid-answer"];
    failure = new AgentError("model_timeout", `The provider sent nothing for ${ms} ms ${when}.`);
    controller.abort(failure);
  }
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  return {
    signal: controller.signal,
    reset() {
      if (lastReadAt === undefined) {
        cancelTimer();
        cancelTimer = clock.after(idleMs, check);
      }
      lastReadAt = clock.monotonic();
    },
    getFailure: () => failure,
    abort: () => controller.abort(),
    stop() {
      cancelTimer();
      signal.removeEventListener("abort", forward);
    },
  };
}
