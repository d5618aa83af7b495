import { connect } from "node:net";
import type { Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createServer, type Server } from "../create-server.ts";
import { listen } from "../listen.ts";
import { createHelloAgent } from "../testing/hello-agent.ts";

/** A store that answers a method only when the gate opens. */
function createGatedStore(name: "getSession" | "findRun" | "getRecord") {
  const store = memory();
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isGated = false;
  const gated = (async (...values: never[]) => {
    if (isGated) {
      reached.resolve();
      await gate.promise;
    }
    return (store[name] as (...given: never[]) => unknown)(...values);
  }) as never;
  const close = () => {
    isGated = true;
  };
  const open = () => {
    isGated = false;
    gate.resolve();
  };
  return { store: { ...store, [name]: gated } as Store, close, open, reached: reached.promise };
}

/** Listens, and tells when a client has left. */
async function listenTo(server: Server) {
  const left = Promise.withResolvers<void>();
  const listening = await listen(
    {
      ...server,
      fetch(request, names) {
        request.signal.addEventListener("abort", () => left.resolve());
        return server.fetch(request, names);
      },
    },
    { port: 0 },
  );
  onTestFinished(() => listening.close(0));
  return { ...listening, left: left.promise };
}

describe("a client that leaves before its stream starts", () => {
  it.each([
    { path: "/api/sessions/SESSION/events", body: undefined },
    { path: "/api/chat", body: { messages: [{ role: "user", content: "Hi" }] } },
    {
      path: "/v1/chat/completions",
      body: { model: "helper", stream: true, messages: [{ role: "user", content: "Hi" }] },
    },
    { path: "/v1/responses", body: { model: "helper", stream: true, input: "Hi" } },
    {
      path: "/v1/messages",
      body: { model: "helper", stream: true, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
    },
    {
      path: "/mcp",
      body: {
        ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } },
      },
    },
  ])("frees the place of its stream at once: $path", async ({ path, body }) => {
    const write = vi.spyOn(process.stderr, "write");
    onTestFinished(() => write.mockRestore());
    const gated = createGatedStore("getRecord");
    const agents = [createHelloAgent()];
    const quotas = { default: { streams: 1 } };
    const server = createServer({ agents, store: gated.store, quotas });
    const { secret } = await server.keys.create({ user: "ada" });
    const { url, port, left } = await listenTo(server);
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const run = await fetch(`${url}/api/runs`, { method: "POST", headers, body: '{"input":"Hi"}' });
    const { sessionId } = await run.json();
    const target = path.replace("SESSION", encodeURIComponent(sessionId));
    const text = body === undefined ? "" : JSON.stringify(body);
    gated.close();
    const socket = connect(port, "127.0.0.1", () => {
      const head = [`${body ? "POST" : "GET"} ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`];
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const rest = [
        "Accept: text/event-stream, application/json",
        `Content-Length: ${text.length}`,
        "",
        text,
      ];
      socket.write([...head, ...fields, ...rest].join("\r\n"));
    });
    await gated.reached;
    socket.destroy();
    await left;
    gated.open();
    const events = `${url}/api/sessions/${encodeURIComponent(sessionId)}/events`;
    const follow = async () => {
      const response = await fetch(events, { headers: { ...headers, accept: "text/event-stream" } });
      await response.body?.cancel();
      return response.status;
    };
    await expect.poll(follow).toBe(200);
    expect(write).not.toHaveBeenCalled();
  });
});
