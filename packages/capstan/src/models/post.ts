import type { Agent, AgentOptions, IncomingMessage, request } from "node:http";

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
  (async (posting) => toPostResponse(await sendWithNode(posting, getNodeClient(posting.url, getBuiltin))));

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

function sendWithNode(posting: PostRequest, { request, agent }: NodeClient): Promise<IncomingMessage> {
  const { url, body, signal } = posting;
  const headers = { ...posting.headers, "content-length": String(Buffer.byteLength(body)) };
  const { hostname, port, pathname, search } = new URL(url);
  // Split here because Node would keep a large URL object per request. IPv6 hosts have brackets in a URL.
  const address = { hostname: hostname.replace(/^\[|\]$/g, ""), port, path: pathname + search };
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sent = request({ ...address, method: "POST", headers, agent }, (response) => {
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
