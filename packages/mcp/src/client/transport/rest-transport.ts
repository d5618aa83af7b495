import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { AgentError, isRecord } from "capstan";

type RestServer = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
};

type Request = JSONRPCMessage & { id: string | number; method: string; params?: object };

const methodNotFound = -32601;

/**
 * A transport for servers without the protocol: `POST <url>/tools/list` returns `{ tools }`, and `POST <url>/tools/call`
 * with `{ name, arguments }` returns a result. The rest of the client treats it like any other server.
 */
export function createRestTransport(server: RestServer): Transport {
  const pendingRequests = new Map<string | number, AbortController>();

  function getResult(
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<object> | object | undefined {
    switch (method) {
      case "initialize": {
        const { protocolVersion } = params as { protocolVersion: string };
        const serverInfo = { name: new URL(server.url).host, version: "" };
        return { protocolVersion, capabilities: { tools: {} }, serverInfo };
      }
      case "ping":
        return {};
      case "tools/list":
        return postJson(server, { path: "/tools/list", body: {} }, signal);
      case "tools/call": {
        const { name, arguments: input = {} } = params as { name: string; arguments?: unknown };
        return postJson(server, { path: "/tools/call", body: { name, arguments: input } }, signal);
      }
    }
    return undefined;
  }

  /** Rejects if the request fails, so that the caller gets the reason. */
  async function respondTo({ id, method, params }: Request): Promise<void> {
    const controller = new AbortController();
    pendingRequests.set(id, controller);
    try {
      const result = await getResult(method, params, controller.signal);
      const error = { code: methodNotFound, message: `http-rest servers do not support "${method}".` };
      const answer = result ? { result: result as Record<string, unknown> } : { error };
      transport.onmessage?.({ jsonrpc: "2.0", id, ...answer });
    } finally {
      pendingRequests.delete(id);
    }
  }

  const transport: Transport = {
    start: () => Promise.resolve(),
    async send(message) {
      if (!("method" in message)) return;
      if ("id" in message) await respondTo(message as Request);
      else if (message.method === "notifications/cancelled")
        pendingRequests.get((message.params as { requestId: string | number }).requestId)?.abort();
    },
    async close() {
      for (const controller of pendingRequests.values()) controller.abort();
      transport.onclose?.();
    },
  };
  return transport;
}

type PostRequest = { readonly path: string; readonly body: object };

async function postJson(
  { url, headers, fetch }: RestServer,
  { path, body }: PostRequest,
  signal: AbortSignal,
): Promise<object> {
  const subject = `The server at ${new URL(url).host}`;
  let response: Response;
  try {
    response = await fetch(`${url.replace(/\/$/, "")}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body: JSON.stringify(body),
      // Headers may contain a secret, which must not follow a redirect.
      redirect: "manual",
      signal,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    const { cause = thrown } = thrown as Error;
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
    throw new AgentError("mcp_disconnected", `${subject} cannot be reached (${reason}).`, { cause: thrown });
  }
  const { ok, status } = response;
  if (!ok) {
    await response.body?.cancel();
    const retryable = status >= 500 || status === 429 || status === 408;
    throw new AgentError("mcp_disconnected", `${subject} returned ${status} for ${path}.`, { retryable });
  }
  const answer = parseAnswer(await response.text());
  if (isRecord(answer)) return answer;
  throw new AgentError("mcp_protocol", `${subject} did not return a JSON object for ${path}.`);
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's message quotes the text
  }
}
