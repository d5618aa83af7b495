import { connect } from "node:net";
import { memory } from "capstan/stores/memory";
import { afterEach, expect, it, vi } from "vitest";
import { createServer, type Server, type ServerOptions } from "./create-server.ts";
import { type ListeningServer, type ListenOptions, listen } from "./listen.ts";
import { createHelloAgent } from "./testing/hello-agent.ts";

const open: ListeningServer[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const one of open.splice(0)) await one.close(0);
});

function makeServer(options: Partial<ServerOptions> = {}): Server {
  return createServer({ agents: [createHelloAgent()], ...options });
}

async function start(options: ListenOptions = {}, server: Server = makeServer()): Promise<ListeningServer> {
  const listening = await listen(server, { port: 0, ...options });
  open.push(listening);
  return listening;
}

/**
 * Returns the response to raw bytes, until the server closes the socket or is quiet for a moment after a response.
 */
function sendRaw(port: number, bytes: string, quietMs = 300): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(bytes, "latin1")));
    socket.setTimeout(30_000, () => socket.destroy());
    socket.on("data", (data) => {
      heard += data.toString("latin1");
      socket.setTimeout(quietMs);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(heard));
  });
}

const parseStatuses = (heard: string) =>
  [...heard.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));
const buildHead = (...lines: string[]) => `${lines.join("\r\n")}\r\n\r\n`;
const health = "GET /api/health HTTP/1.1";

it("binds a free port of this machine, and releases it", async () => {
  const listening = await start();
  expect(listening.url).toBe(`http://127.0.0.1:${listening.port}`);
  const answer = await fetch(`${listening.url}/api/health`);
  expect([answer.status, await answer.text()]).toEqual([200, '{"status":"ok"}']);
  await listening.close();
  await expect(fetch(`${listening.url}/api/health`)).rejects.toThrow();
});

it("answers health checks, and nothing else, on a port of their own", async () => {
  const listening = await start({ healthPort: 0 });
  const origin = `http://127.0.0.1:${listening.healthPort}`;
  expect(listening.healthPort).not.toBe(listening.port);
  expect(await (await fetch(`${origin}/healthz`)).json()).toEqual({ status: "ok" });
  expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({ status: "ready" });
  for (const path of ["/api/about", "/api/health", "/metrics", "/healthz/../api/runs", "/healthz?x"])
    expect((await fetch(origin + path)).status, path).toBe(404);
  await listening.close();
  await expect(fetch(`${origin}/healthz`)).rejects.toThrow();
});

it("releases its port when the port for health checks is in use", async () => {
  const { port: taken } = await start();
  const { port } = await start();
  await open.pop()?.close(0);
  await expect(listen(makeServer(), { port, healthPort: taken })).rejects.toThrow(
    `Port ${taken} is already in use`,
  );
  expect((await start({ port })).port).toBe(port);
});

it.each([
  "0.0.0.0",
  "::",
  "192.168.0.1",
  "example.com",
  "127.evil.com",
  "localhost.evil.com",
])("does not listen on %s without a key (A81)", async (host) => {
  await expect(listen(makeServer(), { port: 0, host })).rejects.toMatchObject({
    code: "invalid_definition",
    message: expect.stringContaining("Set a key"),
  });
});

it("listens on all addresses with a key, and there too only under its own names (A75, A81)", async () => {
  const store = memory();
  const server = makeServer({ store });
  const { secret } = await server.keys.create({ user: "", isAdmin: true });
  const { port } = await start({ host: "0.0.0.0" }, server);
  const ask = async (host: string) =>
    parseStatuses(
      await sendRaw(
        port,
        buildHead(
          "GET /api/runs HTTP/1.1",
          `Host: ${host}`,
          `Authorization: Bearer ${secret}`,
          "Connection: close",
        ),
      ),
    );
  expect(await ask(`127.0.0.1:${port}`)).toEqual([200]);
  expect(await ask("0.0.0.0")).toEqual([421]);
  expect(await ask("evil.example")).toEqual([421]);
});

it("reports that a port is in use", async () => {
  const { port } = await start();
  await expect(listen(makeServer(), { port })).rejects.toMatchObject({
    code: "invalid_definition",
    message: `Port ${port} is already in use. Choose another one, or 0 for a free port.`,
  });
});

it.each([
  ["one", ["Host: localhost"], 200],
  ["none", [], 400],
  ["an empty one", ["Host:"], 400],
  ["two", ["Host: localhost", "Host: evil.example"], 421],
  ["two that are the same", ["Host: localhost", "host: localhost"], 421],
  ["another", ["Host: evil.example"], 421],
  ["one with a name before it", ["Host: localhost@evil.example"], 400],
  ["one of bytes", ["Host: \xff\xfe"], 400],
])("on the wire with %s for a Host (A75)", async (_, lines, status) => {
  const { port } = await start();
  expect(parseStatuses(await sendRaw(port, buildHead(health, ...lines, "Connection: close")))).toEqual([
    status,
  ]);
});

it("a target that names another host is refused, whatever the Host header is (A75)", async () => {
  const { port } = await start();
  for (const target of ["http://evil.example/api/health", "http://localhost/api/health", "*", "evil"]) {
    const heard = await sendRaw(
      port,
      buildHead(`GET ${target} HTTP/1.1`, "Host: localhost", "Connection: close"),
    );
    expect(parseStatuses(heard), target).toEqual([400]);
  }
  expect(parseStatuses(await sendRaw(port, buildHead("GET /api/health HTTP/1.0")))).toEqual([400]);
});

it.each([
  ["length and chunks", ["Content-Length: 4", "Transfer-Encoding: chunked"], "0\r\n\r\n"],
  ["two lengths", ["Content-Length: 2", "Content-Length: 40"], "{}"],
  ["a length with a sign", ["Content-Length: +2"], "{}"],
  ["a length that is none", ["Content-Length: 2, 2"], "{}"],
  ["chunks twice", ["Transfer-Encoding: chunked, chunked"], "0\r\n\r\n"],
  ["chunks and more", ["Transfer-Encoding: chunked, identity"], "0\r\n\r\n"],
  ["chunks misspelt", ["Transfer-Encoding: xchunked"], "0\r\n\r\n"],
  ["a blank before the colon", ["Transfer-Encoding : chunked"], "0\r\n\r\n"],
  ["a folded header", ["X: a\r\n Transfer-Encoding: chunked"], "0\r\n\r\n"],
  ["a bare line feed", ["X: a\nTransfer-Encoding: chunked"], "0\r\n\r\n"],
  ["a bare carriage return", ["X: a\rTransfer-Encoding: chunked"], "0\r\n\r\n"],
  ["a zero byte", ["X: a\0b"], ""],
])("of a request with %s no second one is made (A99, A91)", async (_, lines, body) => {
  const { port } = await start();
  const first = buildHead(
    "POST /api/runs HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    ...lines,
  );
  const smuggled = buildHead("GET /api/health HTTP/1.1", "Host: localhost", "Connection: close");
  const heard = await sendRaw(port, `${first}${body}${smuggled}`);
  expect(parseStatuses(heard)).toEqual([400]);
  expect(heard).not.toContain('"ok"');
});

it("too many headers, or too much of them, are refused (A83, A91)", async () => {
  const { port } = await start();
  const many = Array.from({ length: 120 }, (_, index) => `X-${index}: 1`);
  const heard = await sendRaw(port, buildHead(health, "Host: localhost", ...many, "Connection: close"));
  expect(parseStatuses(heard)).toEqual([400]);
  expect(heard).toContain("The limit is 100.");
  const huge = await sendRaw(
    port,
    buildHead(health, "Host: localhost", `Authorization: Bearer ${"x".repeat(1_000_000)}`),
  );
  expect(parseStatuses(huge)).toEqual([431]);
});

it("an Origin is not lost behind many headers (A76)", async () => {
  const { port } = await start();
  const many = Array.from({ length: 90 }, (_, index) => `X-${index}: 1`);
  const lines = ["Host: localhost", ...many, "Origin: https://evil.example", "Connection: close"];
  expect(parseStatuses(await sendRaw(port, buildHead(health, ...lines)))).toEqual([403]);
});

it("a page of another site can open no stream, and the server offers no WebSocket at all (A78)", async () => {
  const { port } = await start();
  const upgrade = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  const ask = async (path: string, origin: string, more: readonly string[]) =>
    parseStatuses(
      await sendRaw(
        port,
        buildHead(`GET ${path} HTTP/1.1`, `Host: localhost:${port}`, `Origin: ${origin}`, ...more),
      ),
    );
  expect(await ask("/api/runs", "https://evil.example", upgrade)).toEqual([403]);
  expect(await ask("/nothing", `http://localhost:${port}`, upgrade)).toEqual([404]);
  const stream = [
    "Accept: text/event-stream",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Mode: cors",
    "Connection: close",
  ];
  expect(await ask("/api/runs/run_1/events", "https://evil.example", stream)).toEqual([403]);
});

it("a body that is too large is refused before it is sent (A89)", async () => {
  const { port } = await start();
  const lines = ["Host: localhost", "Content-Type: application/json", "Content-Length: 1073741824"];
  const heard = await sendRaw(port, buildHead("POST /api/runs HTTP/1.1", ...lines), 1500);
  expect(parseStatuses(heard)).toEqual([413]);
  expect(heard).toContain("exceeds the limit of 4194304 bytes");
});

it("a request that does not come to its end is given up (A89)", async () => {
  const { port } = await start({ requestTimeoutMs: 300 });
  const lines = ["Host: localhost", "Content-Type: application/json", "Content-Length: 100"];
  expect(
    parseStatuses(await sendRaw(port, `${buildHead("POST /api/runs HTTP/1.1", ...lines)}{"input":`, 5000)),
  ).toEqual([408]);
  expect(parseStatuses(await sendRaw(port, "GET /api/health HTTP/1.1\r\nHost: loc", 5000))).toEqual([408]);
});

it("more connections than it takes are turned away, and those it has are not harmed (A92, F83)", async () => {
  const { port } = await start({ maxConnections: 2 });
  const held = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  await Promise.all(held.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await sendRaw(port, buildHead(health, "Host: localhost"))).toBe("");
  held[0]?.write(buildHead(health, "Host: localhost"));
  const answer = await new Promise((resolve) => held[0]?.once("data", resolve));
  expect(String(answer)).toContain("200 OK");
  for (const socket of held) socket.destroy();
});

it("HTTP/2 is not spoken, so nothing of it can be reset (A99)", async () => {
  const { port } = await start();
  const heard = await sendRaw(port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
  expect(parseStatuses(heard)).toEqual([400]);
});

it("no detail of an error in the middle of a response is sent (A94)", async () => {
  const planted = "PLANTED-in-a-stream";
  const answers: (() => Promise<Response>)[] = [
    async () => new Response(new ReadableStream({ pull: () => Promise.reject(new Error(planted)) })),
    async () => {
      let pulled = 0;
      const pull = (controller: ReadableStreamDefaultController) => {
        if (pulled++ > 3) throw new Error(planted);
        controller.enqueue(new TextEncoder().encode("piece "));
      };
      return new Response(new ReadableStream({ pull }));
    },
    () => Promise.reject(new Error(planted)),
    () => Promise.reject(planted),
  ];
  vi.spyOn(console, "error").mockReturnValue(undefined); // the adapter logs broken responses there
  for (const fetch of answers) {
    const { port } = await start({}, { ...makeServer(), fetch });
    expect(await sendRaw(port, buildHead(health, "Host: localhost", "Connection: close"))).not.toContain(
      "PLANTED",
    );
  }
});
