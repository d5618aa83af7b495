// The server under test: fixture tools, resources and prompts behind the handler of `serveMcp`.
import { serve } from "@hono/node-server";
import { McpServer } from "@modelcontextprotocol/server";
import { type McpServerFactory, mcpHandler } from "../src/server/mcp-handler.ts";
import { addInputRequiredTools, requestState } from "./input-required-tools.ts";
import { addPlainTools } from "./plain-tools.ts";
import { addPrompts, addResources } from "./resources-and-prompts.ts";

export type FixtureServer = { readonly url: string; readonly close: () => Promise<void> };

/** Starts the server on a free port of 127.0.0.1. */
export async function startFixtureServer(): Promise<FixtureServer> {
  const factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: "capstan-conformance", version: "0.1.0" },
      {
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          logging: {},
          completions: {},
        },
        requestState: { verify: requestState.verify },
      },
    );
    addPlainTools(server, () => handler.notify);
    addInputRequiredTools(server);
    addResources(server);
    addPrompts(server);
    return server;
  };
  const handler = mcpHandler(factory);
  return new Promise((resolve) => {
    const listener = serve(
      { fetch: (request) => handler.fetch(request), hostname: "127.0.0.1", port: 0 },
      (address) =>
        resolve({
          url: `http://127.0.0.1:${address.port}/mcp`,
          close: async () => {
            await handler.close();
            "closeAllConnections" in listener && listener.closeAllConnections();
            await new Promise<void>((closed) => listener.close(() => closed()));
          },
        }),
    );
  });
}
