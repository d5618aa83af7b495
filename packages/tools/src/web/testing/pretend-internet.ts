// An internet for tests: names that resolve to public addresses, and connections to those that lead to listeners on
// loopback. What nobody serves has a canary: a real listener that counts who comes.
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  type AddressInfo,
  connect as connectByNet,
  createServer as createRawServer,
  type Server,
  type Socket,
} from "node:net";
import type { Connect, Resolve } from "../guard.ts";
import { type SelfSigned, selfSigned } from "./self-signed.ts";

/** Where a site is. Several answers are given one after the other, the last for good. */
export type SiteOptions = {
  readonly name?: string;
  readonly addresses?: readonly string[];
  readonly certificate?: SelfSigned;
};

/** Listeners, and what the guard is given instead of a resolver and a connector. */
export type PretendInternet = {
  /** The `connect`, `resolve` and `certificates` of a guard. */
  readonly options: {
    readonly resolve: Resolve;
    readonly connect: Connect;
    readonly certificates: readonly string[];
  };
  /** Names that were looked up, and addresses with ports that were asked for a connection. */
  readonly lookups: readonly string[];
  readonly connections: readonly string[];
  /** How often the canary was touched: by the guard's connector, or straight on `canaryPort` of loopback. */
  canaryTouches(): number;
  readonly canaryPort: number;
  /** Serves a name over https (and the certificate says so), or a listener for raw bytes. */
  site(listener: RequestListener, options?: SiteOptions): Promise<void>;
  plainSite(listener: RequestListener, options?: SiteOptions): Promise<void>;
  rawSite(listener: (socket: Socket) => void, options?: SiteOptions): Promise<void>;
  /** Answers of the resolver: one for each look-up, the last one for good. */
  answer(name: string, ...answers: readonly (readonly string[])[]): void;
  close(): void;
};

export const publicAddress = "93.184.215.14";

export async function pretendInternet(): Promise<PretendInternet> {
  const [ports, answers] = [new Map<string, number>(), new Map<string, (readonly string[])[]>()];
  const [lookups, connections, certificates]: [string[], string[], string[]] = [[], [], []];
  const [servers, sockets]: [Server[], Set<Socket>] = [[], new Set()];
  let touches = 0;

  async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
    servers.push(server);
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return (server.address() as AddressInfo).port;
  }
  async function serve(
    server: Server,
    { name = "example.com", addresses = [publicAddress] }: SiteOptions,
  ): Promise<void> {
    const port = await listen(server);
    for (const address of addresses) ports.set(address, port);
    if (!answers.has(name)) answers.set(name, [addresses]);
  }
  const canary = createRawServer((socket) => {
    touches += 1;
    socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nthe canary sings");
  });
  const canaryPort = await listen(canary);

  return {
    lookups,
    connections,
    canaryPort,
    canaryTouches: () => touches,
    options: {
      certificates,
      async resolve(name) {
        lookups.push(name);
        const given = answers.get(name);
        if (!given) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
        return (given.length > 1 ? given.shift() : given[0]) ?? [];
      },
      connect({ address, port }) {
        connections.push(`${address}:${port}`);
        const socket = connectByNet({ host: "127.0.0.1", port: ports.get(address) ?? canaryPort });
        Object.defineProperty(socket, "remoteAddress", { get: () => address, configurable: true });
        return socket;
      },
    },
    site(listener, options = {}) {
      const certificate = options.certificate ?? selfSigned([options.name ?? "example.com"]);
      certificates.push(certificate.cert);
      return serve(createTlsServer({ ...certificate }, listener), options);
    },
    plainSite: (listener, options = {}) => serve(createServer(listener), options),
    rawSite: (listener, options = {}) => serve(createRawServer(listener), options),
    answer: (name, ...given) => void answers.set(name, [...given]),
    close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}
