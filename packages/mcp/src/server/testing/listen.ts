import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { McpHandler } from "../mcp-handler.ts";

export type TestListener = { readonly url: URL; close(): Promise<void> };

/** Serves a handler on a free loopback port. The header `x-user` replaces authentication. */
export async function listenOnLoopback(handler: Pick<McpHandler, "fetch" | "close">): Promise<TestListener> {
  const server = createAdaptorServer({
    fetch(request) {
      const user = request.headers.get("x-user");
      return handler.fetch(request, user === null ? {} : { user });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    async close() {
      await handler.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
