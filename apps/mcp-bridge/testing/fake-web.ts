import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { WebFetchOptions } from "@capstan/tools";

export type FakeWeb = {
  /** Options for `web_fetch`: every name resolves to a public address, and every connection is redirected to this server. */
  readonly web: WebFetchOptions;
  /** The requested addresses. */
  readonly connections: readonly string[];
  close(): Promise<void>;
};

/** Serves the pages by path on a local port. */
export async function startFakeWeb(pages: Readonly<Record<string, string>>): Promise<FakeWeb> {
  const connections: string[] = [];
  const server = createServer(({ url = "/" }, response) => {
    const page = pages[url];
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" });
    response.end(page ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    connections,
    web: {
      allowHttp: true,
      resolve: async () => ["93.184.215.14"],
      connect(to) {
        connections.push(`${to.address}:${to.port}`);
        const socket = connect({ host: "127.0.0.1", port });
        // The guard checks that the socket is connected to the requested address.
        return Object.defineProperty(socket, "remoteAddress", { get: () => to.address });
      },
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
