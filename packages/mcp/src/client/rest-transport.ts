import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";

type Rest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
};

/**
 * A server without the protocol: `POST <url>/tools/list` gives `{ tools }`, and `POST <url>/tools/call` with
 * `{ name, arguments }` gives a result. To the rest of the client it looks like any other server.
 */
export function restTransport({ url, headers, fetch }: Rest): Transport {
  const open = new Map<string | number, AbortController>();

  async function post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const response = await fetch(`${url.replace(/\/$/, "")}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body: JSON.stringify(body ?? {}),
      signal,
    });
    if (!response.ok) throw new AgentError("mcp_disconnected", `It answered ${response.status}.`);
    return response.json();
  }

  function answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> | unknown {
    switch (method) {
      case "initialize": {
        const { protocolVersion } = params as { protocolVersion: string };
        return {
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: new URL(url).host, version: "" },
        };
      }
      case "ping":
        return {};
      case "tools/list":
        return post("/tools/list", {}, signal);
      case "tools/call": {
        const { name, arguments: input } = params as { name: string; arguments?: unknown };
        return post("/tools/call", { name, arguments: input ?? {} }, signal);
      }
    }
    throw new AgentError("mcp_protocol", `A plain HTTP server does not know "${method}".`);
  }

  async function respond(message: JSONRPCMessage & { id: string | number; method: string; params?: object }) {
    const controller = new AbortController();
    open.set(message.id, controller);
    try {
      const result = await answer(message.method, message.params, controller.signal);
      transport.onmessage?.({ jsonrpc: "2.0", id: message.id, result: result as Record<string, unknown> });
    } catch (thrown) {
      const error = { code: -32603, message: thrown instanceof Error ? thrown.message : String(thrown) };
      transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error });
    } finally {
      open.delete(message.id);
    }
  }

  const transport: Transport = {
    start: () => Promise.resolve(),
    async send(message) {
      if (!("method" in message)) return;
      if ("id" in message) void respond(message as Parameters<typeof respond>[0]);
      else if (message.method === "notifications/cancelled")
        open.get((message.params as { requestId: string | number }).requestId)?.abort();
    },
    async close() {
      for (const controller of open.values()) controller.abort();
      transport.onclose?.();
    },
  };
  return transport;
}
