import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type ListeningServer, listen } from "@capstan/server";
import { defineAgent, type Model } from "capstan";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasProgram } from "../testing/deploy/kit-files.ts";
import {
  createProxyFolder,
  findProxyPort,
  prepareCaddy,
  prepareNginx,
  startProxy,
} from "../testing/deploy/proxies.ts";

const site = "agents.example.com";
const key = "a-key-for-the-proxies";
const place = mkdtempSync(join(tmpdir(), "capstan-proxies-"));
const received: Headers[] = [];
let gate = Promise.withResolvers<void>();
let listening: ListeningServer;
let proxy: ChildProcess | undefined;

/** Says one word, and the other one when the gate opens. */
const model: Model = {
  id: "gated",
  async *stream() {
    yield [{ type: "text", text: "first " }];
    await gate.promise;
    yield [
      { type: "text", text: "last" },
      { type: "finish", reason: "stop" },
    ];
  },
};

beforeAll(async () => {
  const agents = [defineAgent({ name: "gated", model })];
  const server = createServer({ agents, apiKey: key, hosts: [site], origins: [`https://${site}`] });
  const fetch: typeof server.fetch = async (message, ...rest) => {
    received.push(message.headers);
    const response = await server.fetch(message, ...rest);
    response.headers.delete("x-accel-buffering"); // the configuration must suffice
    return response;
  };
  listening = await listen({ ...server, fetch }, { port: 0 });
});
afterEach(async () => {
  if (proxy?.exitCode === null && proxy.kill()) await once(proxy, "exit");
});
afterAll(async () => {
  await listening.close(0);
  rmSync(place, { recursive: true, force: true });
});

/** Sends a request over HTTPS to the proxy, which has a certificate of its own. */
function send(port: number, path: string, body?: unknown): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ host: site, authorization: `Bearer ${key}`, origin: `https://${site}` },
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const options = { host: "127.0.0.1", port, path, servername: site, rejectUnauthorized: false, headers };
    const sent = request({ ...options, method: body === undefined ? "GET" : "POST" }, resolve);
    sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function getStatus(port: number, path: string): Promise<number | undefined> {
  const response = await send(port, path).catch(() => undefined);
  response?.resume();
  return response?.statusCode;
}

describe.each([
  ["Caddy", "caddy", prepareCaddy],
  ["nginx", "nginx", prepareNginx],
])("the server behind %s", (_, program, prepare) => {
  const isMissing = !hasProgram(program) || !hasProgram("openssl");
  it.skipIf(isMissing)("streams over TLS: the first event arrives before the last one exists", async () => {
    gate = Promise.withResolvers();
    const port = await findProxyPort();
    const folder = createProxyFolder(place, program);
    proxy = startProxy(prepare({ folder, upstream: listening.port, port }));
    await expect.poll(() => getStatus(port, "/api/health")).toBe(200);

    const stream = await send(port, "/api/chat", { messages: [{ role: "user", content: "Hi" }] });
    expect(stream.statusCode).toBe(200);
    expect(stream.headers["content-type"]).toMatch(/^text\/event-stream/);
    stream.setEncoding("utf8");
    let text = "";
    for await (const part of stream) {
      text += part;
      if (text.includes("first")) gate.resolve(); // a proxy that collects the response never gets here
    }
    expect(text).toMatch(/first[\s\S]*last[\s\S]*event: done/);

    const headers = received.at(-1);
    expect(headers?.get("host")).toBe(site);
    expect(headers?.get("x-forwarded-for")).toBe("127.0.0.1");
    expect(headers?.get("x-forwarded-proto")).toBe("https");
    expect(headers?.get("connection")).not.toBe("close");
    expect(await getStatus(port, "/metrics")).toBe(404);
    expect(await getStatus(port, "/readyz")).toBe(404);
    expect(await getStatus(port, "/api/about")).toBe(200);
  });
});
