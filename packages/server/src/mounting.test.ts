import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer as createHttp2Server, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createServer, type ServerOptions } from "./create-server.ts";
import { type NodeHandler, toNodeHandler } from "./listen.ts";
import { createHelloAgent } from "./testing/hello-agent.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const makeServer = (options: Partial<ServerOptions> = {}) =>
  createServer({ agents: [createHelloAgent()], ...options });

const ask = (path: string, init: RequestInit = {}) => new Request(`http://127.0.0.1${path}`, init);
const start = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ input: "Hi" }),
};

describe("a server with a base path", () => {
  it("answers with and without it, because some frameworks remove it", async () => {
    const server = makeServer({ basePath: "/my/agents" });
    for (const path of ["/my/agents/api/health", "/api/health"])
      expect((await server.fetch(ask(path))).status).toBe(200);
    for (const path of ["/my/agentsapi/health", "/my/agents/my/agents/api/health", "/my/api/health"])
      expect((await server.fetch(ask(path))).status).toBe(404);
  });

  it("adds it to its links, and keeps body, query and errors of other APIs", async () => {
    const server = makeServer({ basePath: "/agents" });
    const started = await server.fetch(ask("/agents/api/runs", start));
    expect(started.headers.get("location")).toMatch(/^\/agents\/api\/runs\/run_/);
    const card = await (await server.fetch(ask("/agents/.well-known/agent-card.json"))).json();
    expect(card.supportedInterfaces[0].url).toBe("http://127.0.0.1/agents/a2a");
    expect((await server.fetch(ask("/agents/api/runs?limit=0"))).status).toBe(400);
    const missing = await (await server.fetch(ask("/agents/v1/models/none"))).json();
    expect(missing.error.code).toBe("model_not_found");
  });

  it.each(["agents", "/agents/", "/", "/a b", "//a"])("refuses %j", (basePath) => {
    expect(() => makeServer({ basePath })).toThrow("Invalid basePath");
  });
});

it("`fetch` ignores what frameworks pass to their handlers", async () => {
  const { fetch } = makeServer();
  expect((await fetch(ask("/api/health"), { env: 1 })).status).toBe(200);
  const elsewhere = new Request("http://agents.example/api/health");
  expect((await fetch(elsewhere, { includes: () => true })).status).toBe(421);
});

it("event streams ask not to be compressed, which would hold them back", async () => {
  const { fetch } = makeServer();
  const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }] });
  const chat = await fetch(ask("/api/chat", { ...start, body }));
  expect(chat.headers.get("cache-control")).toBe("no-store, no-transform");
  await chat.body?.cancel();
});

describe("`toNodeHandler`", () => {
  it("uses a body that a parser has read", async () => {
    const handle: NodeHandler = toNodeHandler(makeServer());
    const node = createHttpServer(async (incoming, outgoing) => {
      const chunks = await Array.fromAsync(incoming);
      handle(Object.assign(incoming, { body: JSON.parse(Buffer.concat(chunks).toString()) }), outgoing);
    }).listen(0, "127.0.0.1");
    closers.push(() => node.close());
    await once(node, "listening");
    const { port } = node.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/api/runs`, start);
    expect(response.status).toBe(201);
    await response.body?.cancel();
    node.closeAllConnections();
  });

  it("accepts only hosts of this machine, unless others are listed", async () => {
    const send = async (options: Partial<ServerOptions>) => {
      const node = createHttp2Server(toNodeHandler(makeServer(options))).listen(0, "127.0.0.1");
      closers.push(() => node.close());
      await once(node, "listening");
      const session = connect(`http://127.0.0.1:${(node.address() as AddressInfo).port}`);
      closers.push(() => session.destroy());
      const stream = session.request({ ":path": "/api/health", ":authority": "agents.example" });
      const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
      return headers[":status"];
    };
    expect(await send({})).toBe(421);
    expect(await send({ hosts: ["agents.example"] })).toBe(200);
  });

  it("streams over HTTP/2, several requests on one connection", async () => {
    const node = createHttp2Server(toNodeHandler(makeServer())).listen(0, "127.0.0.1");
    closers.push(() => node.close());
    await once(node, "listening");
    const session = connect(`http://127.0.0.1:${(node.address() as AddressInfo).port}`);
    closers.push(() => session.destroy());
    const texts = ["one", "two"].map(async (content) => {
      const stream = session.request({
        ...{ ":path": "/api/chat", ":method": "POST", "content-type": "application/json" },
      });
      stream.end(JSON.stringify({ messages: [{ role: "user", content }] }));
      stream.setEncoding("utf8");
      return (await Array.fromAsync(stream)).join("");
    });
    for (const text of await Promise.all(texts)) expect(text).toContain("event: done");
  });
});
