import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { type AddressInfo, isIPv6 } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { AgentError } from "capstan";
import type { Server } from "./create-server.ts";
import { isLoopbackHost } from "./http/guard.ts";
import { toErrorResponse } from "./http/security-headers.ts";

export type ListenOptions = {
  /** 0 picks a free port. */
  readonly port?: number;
  /** Address to bind. Addresses other than loopback require a key. */
  readonly host?: string;
  /** Further connections are refused. */
  readonly maxConnections?: number;
  /** Time limit for receiving a request including its body. */
  readonly requestTimeoutMs?: number;
  /**
   * A second port that answers only `/healthz` and `/readyz`, so that probes do not wait behind a burst of new
   * connections: Node accepts one per turn of its event loop.
   */
  readonly healthPort?: number;
};

/** A server bound to a port. */
export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** The port of `healthPort`, which 0 picks. */
  readonly healthPort: number | undefined;
  /**
   * Answers new requests with `draining` while active runs are released, for at most `patienceMs` (25 s), then closes
   * the port and all connections. Does not close the store.
   */
  close(patienceMs?: number): Promise<void>;
}

export const defaultPort = 4680;
const maxHeaders = 100;
const closeGraceMs = 1000;
/**
 * Pending connections the kernel queues. Clients that reconnect after a restart would otherwise time out and retry.
 */
const backlog = 4096;

/**
 * Binds a port for a server. Rejects with `invalid_definition` when the port is in use, or when a public address has
 * no key.
 */
export async function listen(server: Server, options: ListenOptions = {}): Promise<ListeningServer> {
  const { port = defaultPort, host = "127.0.0.1" } = options;
  await assertProtected(server, host);
  let isShuttingDown = false;
  const listener = createListener(server, ({ socket }, outgoing) => {
    if (isShuttingDown) outgoing.shouldKeepAlive = false;
    return getLocalNames(socket.localAddress, host);
  });
  const node = createNodeServer(options).on("request", listener);
  const actual = await bindPort(node, { port, host });
  const health = options.healthPort === undefined ? undefined : createHealthServer(options, listener);
  const healthPort =
    health && (await bindPort(health, { port: options.healthPort ?? 0, host }).catch(closeAndThrow(node)));
  let closed: Promise<void> | undefined;
  return {
    port: actual,
    healthPort,
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${actual}`,
    close(patienceMs) {
      isShuttingDown = true;
      closed ??= server.close(patienceMs).then(async () => {
        await Promise.all([closeServer(node), health && closeServer(health)]);
      });
      return closed;
    },
  };
}

async function assertProtected({ keys }: Pick<Server, "keys">, host: string): Promise<void> {
  if (isLoopbackHost(host) || (await keys.areNeeded())) return;
  const message = `Anyone who can reach ${host} could use this server. Set a key (apiKey or CAPSTAN_API_KEY), or listen on 127.0.0.1.`;
  throw new AgentError("invalid_definition", message);
}

/** A worker's port for `/healthz`, `/readyz` and `/metrics`. */
export type ListeningHealth = { readonly port: number; close(): Promise<void> };

/**
 * Binds a port that answers only `/healthz`, `/readyz` and `/metrics`, for a process that executes runs and serves nothing
 * else. The metrics are for admins, as on a server. Rejects with `invalid_definition` when a public address has no key.
 */
export async function listenHealth(
  server: Pick<Server, "fetch" | "keys">,
  { port, host = "127.0.0.1" }: { readonly port: number; readonly host?: string },
): Promise<ListeningHealth> {
  await assertProtected(server, host);
  const listener = createListener(server, ({ socket }) => getLocalNames(socket.localAddress, host));
  const node = createHealthServer({}, listener, [...healthPaths, "/metrics"]);
  return { port: await bindPort(node, { port, host }), close: () => closeServer(node) };
}

/** Handles requests of `node:http` and `node:http2`, and of frameworks that pass them on. */
export type NodeHandler = (
  incoming: IncomingMessage | Http2ServerRequest,
  outgoing: ServerResponse | Http2ServerResponse,
) => void;

/**
 * Creates a handler for Express, Fastify and other frameworks on Node. A body that a parser such as `express.json()` has
 * read is used as parsed. Only the names in `hosts` and of this machine are valid hosts.
 */
export function toNodeHandler(server: Pick<Server, "fetch">): NodeHandler {
  const listener = createListener(server, (incoming) => {
    const { body } = incoming as { readonly body?: unknown };
    if (incoming.readableDidRead && body !== undefined)
      Object.assign(incoming, { rawBody: Buffer.from(JSON.stringify(body)) });
    return [];
  });
  return (incoming, outgoing) => void listener(incoming, outgoing);
}

/** `prepare` is called before each request and returns the names under which the socket is known. */
function createListener(
  { fetch }: Pick<Server, "fetch">,
  prepare: (incoming: IncomingMessage, outgoing: ServerResponse) => readonly string[],
) {
  return getRequestListener(
    (request, bindings) => {
      const { incoming, outgoing } = bindings as HttpBindings;
      const names = prepare(incoming, outgoing);
      const problem = findWireProblem(incoming.rawHeaders, incoming.url ?? "");
      return problem ? toErrorResponse(problem) : fetch(request, names);
    },
    { overrideGlobalObjects: false, errorHandler: () => toErrorResponse(createUnreadableError()) },
  );
}

function createNodeServer({ maxConnections = 10_000, requestTimeoutMs = 60_000 }: ListenOptions): NodeServer {
  const node = createServer({
    insecureHTTPParser: false,
    requireHostHeader: true,
    maxHeaderSize: 16 * 1024,
    headersTimeout: Math.min(10_000, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5000, requestTimeoutMs),
    keepAliveTimeout: 10_000,
  });
  node.maxConnections = maxConnections;
  node.maxRequestsPerSocket = 10_000;
  // Node would silently drop headers beyond the limit, such as Origin, so they are counted and refused below.
  node.maxHeadersCount = 0;
  return node;
}

const healthPaths: readonly string[] = ["/healthz", "/readyz"];

/** Creates a server that shares the event loop but not the queue of connections, and has no other routes. */
function createHealthServer(
  options: ListenOptions,
  listener: RequestListener,
  paths: readonly string[] = healthPaths,
): NodeServer {
  return createNodeServer(options).on("request", (request, response) => {
    if (paths.includes(request.url ?? "")) return listener(request, response);
    response.writeHead(404, { "content-type": "text/plain" }).end(`Use ${paths.join(", ")}.\n`);
  });
}

const closeAndThrow = (node: NodeServer) => (thrown: unknown) => {
  node.close();
  throw thrown;
};

/** Checks the raw request: Node keeps the first of two Host headers and accepts absolute targets. HTTP/2 has an authority. */
function findWireProblem(rawHeaders: readonly string[], target: string): AgentError | undefined {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  if (names.length > maxHeaders)
    return new AgentError("invalid_input", `Too many headers: ${names.length}. The limit is ${maxHeaders}.`);
  const hostName = names.includes(":authority") ? ":authority" : "host";
  if (names.filter((name) => name === hostName).length !== 1)
    return new AgentError("misdirected", "A request must have exactly one Host header.");
  if (!target.startsWith("/")) return createUnreadableError();
  return undefined;
}

/** Returns the names under which the client may address this machine, without wildcard addresses. */
function getLocalNames(address: string | undefined, host: string): readonly string[] {
  const names = [address?.replace(/^::ffff:(?=[\d.]+$)/, ""), host.toLowerCase()];
  return names.filter((name) => name !== undefined && name !== "0.0.0.0" && name !== "::") as string[];
}

function createUnreadableError(): AgentError {
  return new AgentError("invalid_input", "Invalid request target or Host header.");
}

/** Resolves with the port. */
function bindPort(node: NodeServer, { port, host }: { port: number; host: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    node.once("error", (error: NodeJS.ErrnoException) => {
      const messages: Record<string, string> = {
        EADDRINUSE: `Port ${port} is already in use. Choose another one, or 0 for a free port.`,
        EACCES: `Permission denied for port ${port}. Choose one above 1023.`,
        EADDRNOTAVAIL: `${host} is not an address of this machine.`,
        ENOTFOUND: `${host} is not an address of this machine.`,
      };
      const message = messages[error.code ?? ""] ?? `Cannot listen on ${host}:${port}: ${error.message}`;
      reject(new AgentError("invalid_definition", message, { cause: error }));
    });
    node.listen({ port, host, backlog }, () => resolve((node.address() as AddressInfo).port));
  });
}

/** Closes the server, giving open responses a moment to finish. */
async function closeServer(node: NodeServer): Promise<void> {
  const closed = new Promise<void>((resolve) => node.close(() => resolve()));
  const force = setTimeout(() => node.closeAllConnections(), closeGraceMs);
  await closed;
  clearTimeout(force);
}
