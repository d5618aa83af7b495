import type { Agent, AgentOptions, IncomingMessage, request } from "node:http";

/** One request to a provider: always a POST of text. */
export type Posting = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** What came back, as soon as its headers are there. */
export type Reply = {
  readonly status: number;
  /** By its name in lower case. */
  header(name: string): string | undefined;
  /** Gives the body as it comes; `false` asks for no more. Rejects when it breaks off, and with what `onBytes` throws. */
  read(onBytes: (bytes: Uint8Array) => undefined | false): Promise<void>;
};

export type Post = (posting: Posting) => Promise<Reply>;

const nativeFetch = globalThis.fetch;

/**
 * On Node its own HTTP client, which costs a third of its `fetch` for each request (see bench/). Elsewhere, and where
 * somebody has put a `fetch` of their own in its place, that one.
 */
export function post(posting: Posting, fetch?: typeof globalThis.fetch): Promise<Reply> {
  // Looked up at each call, so that a global `fetch` replaced later is used.
  const chosen = fetch ?? (globalThis.fetch === nativeFetch ? undefined : globalThis.fetch);
  return chosen || !postByNode ? postByFetch(chosen ?? nativeFetch)(posting) : postByNode(posting);
}

export const postByFetch =
  (fetch: typeof globalThis.fetch): Post =>
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
          // Not awaited: a connection that hangs would hang here too.
          reader.cancel().catch(() => undefined);
        }
      },
    };
  };

type Builtin = typeof process.getBuiltinModule;
type Client = { readonly request: typeof request; readonly agent: Agent };

/** Asked for at run time and not imported: browsers and their bundlers know nothing of it. */
const builtin = (globalThis as { process?: { getBuiltinModule?: Builtin } }).process?.getBuiltinModule;

/** Node's own HTTP client. Redirects are not followed. */
export const postByNode: Post | undefined =
  builtin && (async (posting) => replyOf(await send(posting, clientFor(posting.url, builtin))));

const clients = new Map<string, Client>();

/** With the settings of the global agent, so that proxies are heeded where Node is told to. */
function clientFor(url: string, builtin: Builtin): Client {
  const protocol = url.startsWith("https:") ? "https" : "http";
  const known = clients.get(protocol);
  if (known) return known;
  const { request, Agent, globalAgent } = builtin(protocol) as typeof import("node:http");
  const { options } = globalAgent as Agent & { readonly options: AgentOptions };
  // A thousand runs that pause for their tools keep a thousand connections, where the global agent would keep 256.
  const agent = new Agent({ ...options, maxFreeSockets: 4096 });
  const client = { request, agent };
  clients.set(protocol, client);
  return client;
}

function send(posting: Posting, { request, agent }: Client): Promise<IncomingMessage> {
  const { url, body, signal } = posting;
  const headers = { ...posting.headers, "content-length": String(Buffer.byteLength(body)) };
  const { hostname, port, pathname, search } = new URL(url);
  // Taken apart here: Node would keep a large object for each request. An address of version 6 has brackets in a URL.
  const address = { hostname: hostname.replace(/^\[|\]$/g, ""), port, path: pathname + search };
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sent = request({ ...address, method: "POST", headers, agent }, (response) => {
      isAnswered = true;
      resolve(response);
    });
    sent.on("error", (error: Error & { code?: string }) => {
      // The server had closed a connection that was kept alive: another one is tried.
      const isStale = sent.reusedSocket && error.code === "ECONNRESET" && !isAnswered;
      if (isStale && !signal.aborted) resolve(send(posting, { request, agent }));
      else reject(error);
    });
    // Not as an option of the request: that costs as much as half of sending it.
    signal.addEventListener("abort", () => sent.destroy(signal.reason), { once: true });
    if (signal.aborted) sent.destroy(signal.reason);
    else sent.end(body);
  });
}

function replyOf(response: IncomingMessage): Reply {
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    read: (onBytes) => bytesOf(response, onBytes),
  };
}

/** By its events: Node's iterator asks the stream anew for each read, which costs as much as parsing what was read. */
function bytesOf(response: IncomingMessage, onBytes: Parameters<Reply["read"]>[0]): Promise<void> {
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
