import { createSocket } from "node:dgram";
import dns from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { get } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { connect as connectByTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { isLoopback, isReservedName, takeLeaks } from "./block-network.ts";

// Documentation addresses (RFC 5737, RFC 3849), which are unreachable even without the hooks.
const remoteAddress = "192.0.2.1";

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function startListener(host = "127.0.0.1"): Promise<number> {
  const server = createServer((socket) => socket.end("hello"));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

const waitForEnd = (socket: { on(event: string, listener: (value: unknown) => void): unknown }) =>
  new Promise<unknown>((resolve) => {
    socket.on("error", resolve);
    socket.on("data", resolve);
    socket.on("response", resolve);
  });

describe("a test", () => {
  it.each([
    ["connect({ host })", () => waitForEnd(connect({ host: remoteAddress, port: 80 }))],
    ["connect(port, host)", () => waitForEnd(connect(80, remoteAddress))],
    ["connect of IPv6", () => waitForEnd(connect({ host: "2001:db8::1", port: 80 }))],
    ["TLS", () => waitForEnd(connectByTls({ host: remoteAddress, port: 443 }))],
    ["http", () => waitForEnd(get(`http://${remoteAddress}/`))],
    ["fetch", () => fetch(`http://${remoteAddress}/`).catch((error) => error)],
    [
      "its own lookup",
      () =>
        waitForEnd(
          connect({
            host: "a.test",
            port: 80,
            lookup: (_name, _options, done) => done(null, [{ address: remoteAddress, family: 4 }]),
          }),
        ),
    ],
    [
      "a datagram",
      async () =>
        expect(() => createSocket("udp4").unref().send("x", 53, remoteAddress)).toThrow(
          "Network access blocked",
        ),
    ],
  ])("cannot reach another machine by %s, and gets an error", async (_how, leave) => {
    await leave();
    expect(takeLeaks()).toEqual([
      expect.stringMatching(/^(?:connection|datagram) to (?:192\.0\.2\.1|2001:db8::1)$/),
    ]);
  });

  it.each([
    ["dns.lookup", () => new Promise((resolve) => dns.lookup("example.com", resolve))],
    ["dns.resolve4", () => new Promise((resolve) => dns.resolve4("example.com", resolve))],
    ["a promise", () => lookup("example.com").catch((error) => error)],
    ["a resolver", () => new Resolver().resolve4("example.com").catch((error) => error)],
    ["a connection", () => waitForEnd(connect(80, "example.com"))],
  ])("cannot look up a name by %s", async (_how, ask) => {
    await expect(ask()).resolves.toMatchObject({
      message: expect.stringContaining("Network access blocked"),
    });
    expect(takeLeaks()).toEqual(["lookup of example.com"]);
  });

  it("gets ENOTFOUND for reserved names", async () => {
    await expect(lookup("nowhere.invalid")).rejects.toMatchObject({ code: "ENOTFOUND" });
    await expect(waitForEnd(connect(80, "models.test"))).resolves.toMatchObject({ code: "ENOTFOUND" });
    expect(takeLeaks()).toEqual([]);
  });

  it("can connect to itself", async () => {
    const port = await startListener();
    for (const host of ["127.0.0.1", "localhost", undefined]) {
      const socket = host === undefined ? connect(port) : connect({ host, port });
      expect(String(await waitForEnd(socket))).toBe("hello");
    }
    expect(takeLeaks()).toEqual([]);
  });
});

describe("the names and addresses of this machine", () => {
  it("are distinguished from all others", () => {
    for (const own of [
      "127.0.0.1",
      "127.9.9.9",
      "::1",
      "[::1]",
      "::ffff:127.0.0.1",
      "localhost",
      "a.localhost",
      "LOCALHOST.",
    ])
      expect([own, isLoopback(own)]).toEqual([own, true]);
    for (const other of [
      "127.evil.com",
      "localhost.evil.com",
      "10.0.0.1",
      "0.0.0.0",
      "::",
      "notlocalhost",
      "::ffff:10.0.0.1",
    ])
      expect([other, isLoopback(other)]).toEqual([other, false]);
    expect(["a.invalid", "b.test.", "test", "invalid.com", "a.test.com"].filter(isReservedName)).toEqual([
      "a.invalid",
      "b.test.",
    ]);
  });
});
