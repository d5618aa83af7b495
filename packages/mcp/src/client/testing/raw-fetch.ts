import { createInitializeResult, type Handlers, type Params } from "./raw-server.ts";

/** Returns a `fetch` that is answered by an MCP server of a 2025 revision in this process. */
export function createRawFetch(handlers: Handlers): typeof globalThis.fetch {
  const known: Handlers = { initialize: () => createInitializeResult("raw"), ...handlers };
  return async (_url, init) => {
    if (init?.method !== "POST") return new Response(null, { status: 405 });
    const {
      id,
      method,
      params = {},
    } = JSON.parse(String(init.body)) as {
      id?: unknown;
      method: string;
      params?: Params;
    };
    if (id === undefined) return new Response(null, { status: 202 });
    const handler = known[method];
    const answer = handler
      ? { result: await handler(params, id) }
      : { error: { code: -32601, message: `Unknown method ${method}.` } };
    return Response.json({ jsonrpc: "2.0", id, ...answer });
  };
}
