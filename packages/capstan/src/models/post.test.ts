import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type PostResponse, post } from "./post.ts";

const { signal } = new AbortController();
const servers: { close(): unknown; closeAllConnections?(): void }[] = [];

afterEach(() => {
  vi.unstubAllGlobals();
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function serve(
  listener: RequestListener,
  host = "127.0.0.1",
): Promise<{ port: number; server: Server }> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

const echo: RequestListener = async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  response.writeHead(201, { "x-path": request.url, "x-said": request.headers["x-say"] });
  response.end(`${request.method} ${body}`);
};

async function textOf(reply: PostResponse): Promise<string> {
  const parts: Uint8Array[] = [];
  await reply.read((bytes) => {
    parts.push(bytes);
  });
  return Buffer.concat(parts).toString();
}

const asked = (url: string) => ({ url, headers: { "x-say": "hello" }, body: "Hé 😀", signal });

describe("a post", () => {
  it.each([
    ["Node's own client", undefined],
    ["a fetch that was given", globalThis.fetch],
  ])("by %s sends the text and returns status, headers and body", async (_by, fetch) => {
    const { port } = await serve(echo);
    const reply = await post(asked(`http://127.0.0.1:${port}/v1/chat?alt=sse`), fetch);
    expect(reply.status).toBe(201);
    expect(reply.header("x-path")).toBe("/v1/chat?alt=sse");
    expect(reply.header("x-said")).toBe("hello");
    expect(reply.header("x-none")).toBeUndefined();
    expect(await textOf(reply)).toBe("POST Hé 😀");
  });

  it.each([
    ["Node's own client", undefined],
    ["a fetch that was given", globalThis.fetch],
  ])("by %s can be stopped early, and rethrows an error of its listener", async (_by, fetch) => {
    const closed: Promise<void>[] = [];
    const { port } = await serve((_request, response) => {
      closed.push(new Promise((resolve) => response.on("close", resolve)));
      response.write("one");
    });
    const asking = () => post(asked(`http://127.0.0.1:${port}/`), fetch);
    await (await asking()).read(() => false);
    const broken = (await asking()).read(() => {
      throw new Error("unreadable");
    });
    await expect(broken).rejects.toThrow("unreadable");
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it("follows no redirect", async () => {
    const { port } = await serve((_request, response) => {
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect((await post(asked(`http://127.0.0.1:${port}/`))).status).toBe(307);
  });

  it("reaches an IPv6 address", async () => {
    const { port } = await serve(echo, "::1");
    expect((await post(asked(`http://[::1]:${port}/`))).status).toBe(201);
  });

  it("uses a replaced global fetch", async () => {
    vi.stubGlobal("fetch", async (url: string) => new Response(`replaced for ${url}`));
    expect(await textOf(await post(asked("http://models.test/v1")))).toBe(
      "replaced for http://models.test/v1",
    );
  });

  it("uses fetch outside Node", async () => {
    vi.stubGlobal("process", undefined);
    vi.stubGlobal("fetch", async () => new Response("by fetch"));
    vi.resetModules();
    const fresh = await import("./post.ts");
    expect(await textOf(await fresh.post(asked("http://models.test/v1")))).toBe("by fetch");
  });

  it("is sent again when the server had closed a connection that was kept alive (F04)", async () => {
    // Answers once on every connection, keeps it open, and resets it as soon as something more is said on it.
    let answered = 0;
    const server = createTcpServer((socket) => {
      let isUsed = false;
      socket.on("error", () => undefined);
      socket.on("data", () => {
        if (isUsed) return socket.resetAndDestroy();
        isUsed = true;
        answered += 1;
        return socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    for (let n = 0; n < 3; n++) {
      expect(await textOf(await post(asked(url)))).toBe("ok");
      await new Promise((resolve) => setTimeout(resolve, 5)); // until the connection is back in its pool
    }
    expect(answered).toBe(3);
  });

  it("is not sent again when a new connection is reset", async () => {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections += 1;
      socket.on("data", () => socket.resetAndDestroy());
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(post(asked(url))).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(connections).toBe(1);
  });
});
