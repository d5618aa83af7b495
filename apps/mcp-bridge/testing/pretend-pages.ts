import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { WebFetchOptions } from "@capstan/tools";

export type PretendPages = {
  /** For `web_fetch`: every name is at a public address, and every connection comes here instead. */
  readonly web: WebFetchOptions;
  /** Where somebody wanted to connect to. */
  readonly connections: readonly string[];
  close(): Promise<void>;
};

/** A web of pages by their paths, on a port of this machine. */
export async function pretendPages(pages: Readonly<Record<string, string>>): Promise<PretendPages> {
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
        // The guard looks whether it is where it wanted to be.
        return Object.defineProperty(socket, "remoteAddress", { get: () => to.address });
      },
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
