import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { McpHandler } from "../handler.ts";

export type Listening = { readonly url: URL; close(): Promise<void> };

/**
 * Serves a handler on a free port of this machine. The header `x-user` stands for what an application does to find out
 * who asks.
 */
export async function listen(handler: Pick<McpHandler, "fetch" | "close">): Promise<Listening> {
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
