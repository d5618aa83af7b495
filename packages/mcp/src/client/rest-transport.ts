import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { isRecord } from "../is-record.ts";

type Rest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
};

type Request = JSONRPCMessage & { id: string | number; method: string; params?: object };

const methodNotFound = -32601;

/**
 * A server without the protocol: `POST <url>/tools/list` gives `{ tools }`, and `POST <url>/tools/call` with
 * `{ name, arguments }` gives a result. To the rest of the client it looks like any other server.
 */
export function restTransport(rest: Rest): Transport {
  const open = new Map<string | number, AbortController>();

  function resultOf(
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<object> | object | undefined {
    switch (method) {
      case "initialize": {
        const { protocolVersion } = params as { protocolVersion: string };
        const serverInfo = { name: new URL(rest.url).host, version: "" };
        return { protocolVersion, capabilities: { tools: {} }, serverInfo };
      }
      case "ping":
        return {};
      case "tools/list":
        return post(rest, { path: "/tools/list", body: {} }, signal);
      case "tools/call": {
        const { name, arguments: input = {} } = params as { name: string; arguments?: unknown };
        return post(rest, { path: "/tools/call", body: { name, arguments: input } }, signal);
      }
    }
    return undefined;
  }

  /** Rejects when there is no answer: whoever asked hears why. */
  async function respond({ id, method, params }: Request): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    try {
      const result = await resultOf(method, params, controller.signal);
      const error = { code: methodNotFound, message: `A plain HTTP server does not know "${method}".` };
      const answer = result ? { result: result as Record<string, unknown> } : { error };
      transport.onmessage?.({ jsonrpc: "2.0", id, ...answer });
    } finally {
      open.delete(id);
    }
  }

  const transport: Transport = {
    start: () => Promise.resolve(),
    async send(message) {
      if (!("method" in message)) return;
      if ("id" in message) await respond(message as Request);
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

type Post = { readonly path: string; readonly body: object };

async function post(
  { url, headers, fetch }: Rest,
  { path, body }: Post,
  signal: AbortSignal,
): Promise<object> {
  const about = `The server at ${new URL(url).host}`;
  let response: Response;
  try {
    response = await fetch(`${url.replace(/\/$/, "")}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body: JSON.stringify(body),
      // The headers may hold a secret, which is for this address alone.
      redirect: "manual",
      signal,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    const { cause = thrown } = thrown as Error;
    const why = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
    throw new AgentError("mcp_disconnected", `${about} cannot be reached (${why}).`, { cause: thrown });
  }
  const { ok, status } = response;
  if (!ok) {
    await response.body?.cancel();
    const retryable = status >= 500 || status === 429 || status === 408;
    throw new AgentError("mcp_disconnected", `${about} answered ${status} to ${path}.`, { retryable });
  }
  const answer = parsed(await response.text());
  if (isRecord(answer)) return answer;
  throw new AgentError("mcp_protocol", `${about} answered ${path} with something that is no JSON object.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's message repeats a part of the text
  }
}
