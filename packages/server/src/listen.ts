import { createServer, type IncomingMessage, type Server as NodeServer } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { AgentError } from "capstan";
import type { Server } from "./create-server.ts";
import { isLoopback } from "./http/guard.ts";
import { answerTo } from "./http/security-headers.ts";

/** Where a server listens. */
export type ListenOptions = {
  /** 0 takes one that is free. */
  readonly port?: number;
  /** An address of this machine; another one than loopback needs a key. */
  readonly host?: string;
  /** More are turned away until others have gone. */
  readonly maxConnections?: number;
  /** A request must be here in so many milliseconds, with its body. */
  readonly requestTimeoutMs?: number;
};

/** A server that can be reached. */
export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /**
   * Answers that it leaves while runs are put down, for `patienceMs` at most (25 s), then lets go of the port and of
   * every connection. The store stays open.
   */
  close(patienceMs?: number): Promise<void>;
}

export const defaultPort = 4680;
const mostHeaders = 100;
const lastWordsMs = 1000;
/** So many may knock at once, as after a restart; with fewer, some would be asked to try again a second later. */
const backlog = 4096;

/** Opens a port for a server. Rejects with `invalid_definition` when it is in use, or open to others without a key. */
export async function listen(server: Server, options: ListenOptions = {}): Promise<ListeningServer> {
  const { port = defaultPort, host = "127.0.0.1" } = options;
  if (!isLoopback(host) && !(await server.keys.areNeeded())) {
    const message = `Anybody who reaches ${host} could use this server: set a key (apiKey, or CAPSTAN_API_KEY), or listen on 127.0.0.1.`;
    throw new AgentError("invalid_definition", message);
  }
  let isLeaving = false;
  const listener = getRequestListener(
    (request, { incoming, outgoing }) => {
      const { rawHeaders, url = "", socket } = incoming as IncomingMessage;
      if (isLeaving) (outgoing as HttpBindings["outgoing"]).shouldKeepAlive = false;
      const problem = wireProblem(rawHeaders, url);
      return problem ? answerTo(problem) : server.fetch(request, arrivedAt(socket.localAddress, host));
    },
    { overrideGlobalObjects: false, errorHandler: () => answerTo(unreadable()) },
  );
  const node = nodeServer(options).on("request", listener);
  await bound(node, { port, host });
  const { port: actual } = node.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    port: actual,
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${actual}`,
    close(patienceMs) {
      isLeaving = true;
      closed ??= server.close(patienceMs).then(() => shut(node));
      return closed;
    },
  };
}

function nodeServer({ maxConnections = 10_000, requestTimeoutMs = 60_000 }: ListenOptions): NodeServer {
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
  // Node would leave out what is beyond the count, such as an Origin: they are counted here, and refused.
  node.maxHeadersCount = 0;
  return node;
}

/** What can only be seen in the bytes: Node keeps the first of two hosts, and takes a target that names another. */
function wireProblem(rawHeaders: readonly string[], target: string): AgentError | undefined {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  if (names.length > mostHeaders)
    return new AgentError(
      "invalid_input",
      `A request has at most ${mostHeaders} headers, not ${names.length}.`,
    );
  if (names.filter((name) => name === "host").length !== 1)
    return new AgentError("misdirected", "A request has one Host header.");
  if (!target.startsWith("/")) return unreadable();
  return undefined;
}

/** What this machine is called there; an address that stands for all is none. */
function arrivedAt(address: string | undefined, host: string): readonly string[] {
  const names = [address?.replace(/^::ffff:(?=[\d.]+$)/, ""), host.toLowerCase()];
  return names.filter((name) => name !== undefined && name !== "0.0.0.0" && name !== "::") as string[];
}

function unreadable(): AgentError {
  return new AgentError("invalid_input", "The target or the Host header of the request cannot be read.");
}

function bound(node: NodeServer, { port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    node.once("error", (error: NodeJS.ErrnoException) => {
      const why: Record<string, string> = {
        EADDRINUSE: `The port ${port} is in use: choose another one (0 takes one that is free).`,
        EACCES: `The port ${port} may not be used by this user: choose one above 1023.`,
        EADDRNOTAVAIL: `${host} is no address of this machine.`,
        ENOTFOUND: `${host} is no address of this machine.`,
      };
      const message = why[error.code ?? ""] ?? `Cannot listen on ${host}:${port}: ${error.message}`;
      reject(new AgentError("invalid_definition", message, { cause: error }));
    });
    node.listen({ port, host, backlog }, () => resolve());
  });
}

/** Whoever still reads gets a moment for the last words. */
async function shut(node: NodeServer): Promise<void> {
  const closed = new Promise<void>((resolve) => node.close(() => resolve()));
  const force = setTimeout(() => node.closeAllConnections(), lastWordsMs);
  await closed;
  clearTimeout(force);
}
