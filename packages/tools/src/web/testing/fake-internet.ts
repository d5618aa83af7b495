// A fake internet for tests: names resolve to public addresses, and connections to those lead to listeners on loopback.
// Addresses without a site lead to a canary, a listener that counts connections.
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
import { createSelfSigned, type SelfSigned } from "./self-signed-certificate.ts";

export type SiteOptions = {
  readonly name?: string;
  readonly addresses?: readonly string[];
  readonly certificate?: SelfSigned;
};

/** Test sites, and the resolver and connector for the guard. */
export type FakeInternet = {
  /** Options for the guard. */
  readonly options: {
    readonly resolve: Resolve;
    readonly connect: Connect;
    readonly certificates: readonly string[];
  };
  /** Resolved names, and addresses with ports that were connected to. */
  readonly lookups: readonly string[];
  readonly connections: readonly string[];
  /** Connections to the canary, through the guard's connector or directly to `canaryPort`. */
  countCanaryTouches(): number;
  readonly canaryPort: number;
  /** Serves a host over https with a matching certificate, over http, or as raw bytes. */
  addSite(listener: RequestListener, options?: SiteOptions): Promise<void>;
  addPlainSite(listener: RequestListener, options?: SiteOptions): Promise<void>;
  addRawSite(listener: (socket: Socket) => void, options?: SiteOptions): Promise<void>;
  /** Sets the answers of the resolver: one per lookup, the last one repeats. */
  setAnswers(name: string, ...answers: readonly (readonly string[])[]): void;
  close(): void;
};

export const publicAddress = "93.184.215.14";

export async function startFakeInternet(): Promise<FakeInternet> {
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
    countCanaryTouches: () => touches,
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
    addSite(listener, options = {}) {
      const certificate = options.certificate ?? createSelfSigned([options.name ?? "example.com"]);
      certificates.push(certificate.cert);
      return serve(createTlsServer({ ...certificate }, listener), options);
    },
    addPlainSite: (listener, options = {}) => serve(createServer(listener), options),
    addRawSite: (listener, options = {}) => serve(createRawServer(listener), options),
    setAnswers: (name, ...given) => void answers.set(name, [...given]),
    close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}
