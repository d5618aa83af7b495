import type { RequestListener } from "node:http";
import { connect as connectByNet } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkPublicUrl } from "./check-url.ts";
import type { GuardOptions } from "./guard.ts";
import { type GuardedRequest, guardedFetch } from "./guarded-client.ts";
import { type FakeInternet, publicAddress, startFakeInternet } from "./testing/fake-internet.ts";
import { measurePeakMemory } from "./testing/peak-memory.ts";
import { createSelfSigned } from "./testing/self-signed-certificate.ts";

let internet: FakeInternet;
beforeEach(async () => {
  internet = await startFakeInternet();
});
afterEach(() => {
  internet.close();
  vi.unstubAllEnvs();
});

async function fetchText(
  url: string,
  options: GuardOptions = {},
  request: GuardedRequest = {},
): Promise<string> {
  const response = await guardedFetch({ ...internet.options, ...options })(url, request);
  return new TextDecoder().decode(await response.bytes());
}

const getFetchError = (url: string, options: GuardOptions = {}, request: GuardedRequest = {}) =>
  fetchText(url, options, request).then(
    (text) => ({ code: "fetched", message: text.slice(0, 100), retryable: true }),
    (error) => error,
  );

const matchRefusal = (rule: string) => ({
  code: "security",
  retryable: false,
  message: expect.stringContaining(`(rule: ${rule})`),
});

const says =
  (text: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", ...headers }).end(text);
  };

const redirects =
  (location: string, status = 302): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { location }).end();
  };

describe("the addresses of a name", () => {
  it.each([
    ["one that is private", [["127.0.0.1"]]],
    ["one that is public and one that is private (TTL 0)", [[publicAddress, "10.0.0.1"]]],
    ["a private one first", [["192.168.0.1", publicAddress]]],
    ["a public IPv4 and a private IPv6", [[publicAddress, "fd12::1"]]],
    ["a metadata service behind NAT64", [["64:ff9b::a9fe:a9fe"]]],
    ["IPv4 inside IPv6", [["::ffff:10.0.0.1"]]],
    ["what is no address", [["not an address"]]],
    ["an address with a zone", [["fe80::1%eth0"]]],
  ])("refuse it when they are %s (A16, A17, D-17, S4-39)", async (_what, answers) => {
    internet.setAnswers("rebind.example.com", ...answers);
    expect((await getFetchError("https://rebind.example.com/")).code).toBe("security");
    expect(internet.connections).toEqual([]);
    expect(internet.countCanaryTouches()).toBe(0);
  });

  it("are resolved once: the socket goes to the address that was checked (A17, D-17)", async () => {
    await internet.addSite(says("public"), { name: "rebind.example.com" });
    internet.setAnswers("rebind.example.com", [publicAddress], ["127.0.0.1"]);
    expect(await fetchText("https://rebind.example.com/")).toBe("public");
    expect(internet.lookups).toEqual(["rebind.example.com"]);
    expect(internet.connections).toEqual([`${publicAddress}:443`]);
    expect(await getFetchError("https://rebind.example.com/")).toMatchObject(matchRefusal("address"));
    expect(internet.countCanaryTouches()).toBe(0);
  });

  it("are resolved and checked again for a redirect to the same name (A17, A19)", async () => {
    await internet.addSite(redirects("/again"), { name: "rebind.example.com" });
    internet.setAnswers("rebind.example.com", [publicAddress], ["127.0.0.1"]);
    expect(await getFetchError("https://rebind.example.com/")).toMatchObject(matchRefusal("address"));
    expect(internet.connections).toEqual([`${publicAddress}:443`]);
    expect(internet.countCanaryTouches()).toBe(0);
  });

  it("are tried one after the other", async () => {
    await internet.addSite(says("the second"), { addresses: ["93.184.215.15"] });
    internet.setAnswers("example.com", ["2606:4700::1", "93.184.215.15"]);
    const { connect } = internet.options;
    const options: GuardOptions = {
      connect: (to) =>
        to.address.includes(":") ? connectByNet({ host: "127.0.0.1", port: 9 }) : connect(to),
    };
    expect(await fetchText("https://example.com/", options)).toBe("the second");
  });

  it("are missing for an unknown name, which is reported and not retried", async () => {
    expect(await getFetchError("https://nowhere.example.com/")).toMatchObject({
      code: "tool_failed",
      retryable: false,
      message: expect.stringContaining("nowhere.example.com"),
    });
    internet.setAnswers("empty.example.com", []);
    expect(await getFetchError("https://empty.example.com/")).toMatchObject({ code: "tool_failed" });
  });

  it("come from the system resolver by default (A16)", async () => {
    const { resolve: _, ...rest } = internet.options;
    const fetchGuarded = guardedFetch({ ...rest, allowPrivate: true, allowHttp: true });
    const response = await fetchGuarded("http://localhost/");
    expect(new TextDecoder().decode(await response.bytes())).toBe("the canary sings");
    expect(internet.connections.at(-1)).toMatch(/^(?:127\.0\.0\.1|::1):80$/);
  });
});

describe("a connection", () => {
  it("to another address than the checked one is destroyed before a byte is sent (A18)", async () => {
    const heard: Buffer[] = [];
    const closed = Promise.withResolvers<void>();
    await internet.addRawSite((socket) => {
      socket.on("data", (bytes) => heard.push(bytes));
      socket.on("close", () => closed.resolve());
    });
    const { connect } = internet.options;
    const options: GuardOptions = {
      connect(to) {
        const socket = connect(to);
        Object.defineProperty(socket, "remoteAddress", { get: () => "127.0.0.1" });
        return socket;
      },
    };
    expect(await getFetchError("https://example.com/", options)).toMatchObject(matchRefusal("connection"));
    await closed.promise;
    expect(heard).toEqual([]);
  });

  it("ignores the proxies of the environment (A22)", async () => {
    await internet.addSite(says("straight"));
    const proxy = `http://127.0.0.1:${internet.canaryPort}`;
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
      vi.stubEnv(name, proxy);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect(await fetchText("https://example.com/")).toBe("straight");
    expect(internet.countCanaryTouches()).toBe(0);
  });

  it("that is refused is reported without the address and is retryable", async () => {
    internet.setAnswers("example.com", [publicAddress]);
    const error = await getFetchError("https://example.com/", {
      connect: () => connectByNet({ host: "127.0.0.1", port: 9 }),
    });
    expect(error).toMatchObject({ code: "tool_failed", retryable: true });
    expect(error.message).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
  });

  it("is closed with the answer, and when the caller stops", async () => {
    let open = 0;
    const reached = Promise.withResolvers<void>();
    await internet.addSite((request, response) => {
      open += 1;
      request.socket.on("close", () => {
        open -= 1;
      });
      response.writeHead(200, { "content-type": "text/plain" });
      if (request.url === "/whole") response.end("x");
      else response.write("x");
      if (request.url === "/endless") reached.resolve();
    });
    await fetchText("https://example.com/whole");
    const fetchGuarded = guardedFetch(internet.options);
    (await fetchGuarded("https://example.com/unread")).close();
    const controller = new AbortController();
    const reading = getFetchError("https://example.com/endless", {}, { signal: controller.signal });
    await reached.promise;
    controller.abort(new Error("enough"));
    expect(await reading).toMatchObject({ message: "enough" });
    await vi.waitFor(() => expect(open).toBe(0), 30_000);
    expect(await getFetchError("https://example.com/whole", {}, { signal: controller.signal })).toMatchObject(
      {
        message: "enough",
      },
    );
  });
});

describe("a request that is over", () => {
  it("leaves no timer that keeps the process alive", async () => {
    await internet.addSite(says("x"));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    for (let times = 0; times < 10; times += 1) {
      await fetchText("https://example.com/", { totalMs: 60_000 });
      await getFetchError("https://127.0.0.1/", { totalMs: 60_000 });
      await getFetchError("https://nowhere.example.com/", { totalMs: 60_000 });
    }
    expect(timers() - before).toBeLessThan(5); // one or two may be of others
  });
});

describe("TLS", () => {
  it("to a name that is not in the certificate is refused, whatever the environment says (A28)", async () => {
    let requests = 0;
    await internet.addSite(
      (_request, response) => {
        requests += 1;
        response.end();
      },
      { certificate: createSelfSigned(["other.example"]) },
    );
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    expect(await getFetchError("https://example.com/")).toMatchObject(matchRefusal("tls"));
    expect(requests).toBe(0);
  });

  it("with a self-signed certificate is refused (A28)", async () => {
    let requests = 0;
    await internet.addSite((_request, response) => {
      requests += 1;
      response.end();
    });
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    expect(await getFetchError("https://example.com/", { certificates: [] })).toMatchObject(
      matchRefusal("tls"),
    );
    expect(requests).toBe(0);
  });

  it("uses the name for the certificate and the Host header, and accepts an address as host (A17, A28)", async () => {
    const seen: string[] = [];
    await internet.addSite(
      (request, response) => {
        seen.push(`${request.headers.host} ${Reflect.get(request.socket, "servername")}`);
        says("x")(request, response);
      },
      { certificate: createSelfSigned(["example.com", publicAddress]) },
    );
    await fetchText("https://example.com/");
    await fetchText(`https://${publicAddress}:8443/`);
    expect(seen).toEqual(["example.com example.com", `${publicAddress}:8443 false`]);
  });
});

describe("a redirect", () => {
  const places: readonly [string, string][] = [
    ["https://127.0.0.1/", "address"],
    ["https://[::ffff:7f00:1]/", "address"],
    ["https://169.254.169.254/latest/", "metadata"],
    ["https://metadata.google.internal/", "metadata"],
    ["https://localhost/", "name"],
    ["https://inside.example.org/", "address"],
    ["https://user:pass@other.example.org/", "userinfo"],
    ["https://other.example.org:6379/", "port"],
    ["file:///etc/passwd", "scheme"],
    ["data:text/plain,hello", "scheme"],
    ["javascript:alert(1)", "scheme"],
    ["//127.0.0.1/", "address"],
    ["\\\\127.0.0.1\\", "url"],
  ];
  it.each(
    [301, 302, 303, 307, 308].flatMap((status) => places.map((place) => [status, ...place] as const)),
  )("%i to %s is checked before it is requested (A19, S4-39)", async (status, location, rule) => {
    internet.setAnswers("inside.example.org", ["10.0.0.1"]);
    internet.setAnswers("other.example.org", [publicAddress]);
    await internet.addSite(redirects(location, status));
    expect(await getFetchError("https://example.com/deep/page")).toMatchObject(matchRefusal(rule));
    expect(internet.connections).toEqual([`${publicAddress}:443`]);
    expect(internet.countCanaryTouches()).toBe(0);
  });

  it("from https to http is refused, also where http is allowed (A19)", async () => {
    await internet.addSite(redirects("http://example.com/plain"));
    expect(await getFetchError("https://example.com/", { allowHttp: true })).toMatchObject(
      matchRefusal("redirect"),
    );
    expect(internet.connections).toEqual([`${publicAddress}:443`]);
  });

  it("is followed five times, and no sixth time (A19)", async () => {
    await internet.addSite((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else says("arrived")(request, response);
    });
    expect(await fetchText("https://example.com/5")).toBe("arrived");
    expect(internet.connections).toHaveLength(6);
    expect(await getFetchError("https://example.com/11")).toMatchObject(matchRefusal("redirect"));
    expect(internet.connections).toHaveLength(12);
  });

  it("may be relative, and the response has the final URL (A19)", async () => {
    await internet.addSite((request, response) => {
      if (request.url === "/b/c?d") says("there")(request, response);
      else redirects("../b/c?d#e")(request, response);
    });
    const response = await guardedFetch(internet.options)("https://example.com/a/page");
    expect(response).toMatchObject({
      url: "https://example.com/b/c?d#e",
      status: 200,
      mediaType: "text/plain",
    });
    response.close();
  });

  it("with two locations is refused (A19)", async () => {
    await internet.addRawSite((socket) => {
      socket.end(
        "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: https://other.example.org/\r\nContent-Length: 0\r\n\r\n",
      );
    });
    expect(await getFetchError("http://example.com/", { allowHttp: true })).toMatchObject(
      matchRefusal("redirect"),
    );
    expect(internet.connections).toHaveLength(1);
  });

  it("to another origin loses every header but the user agent, for good (A20)", async () => {
    const seen: object[] = [];
    const note: RequestListener = (request, response) => {
      const { authorization, cookie, "x-api-key": key, "user-agent": agent, host } = request.headers;
      seen.push({ host, authorization, cookie, key, agent });
      if (request.url === "/start") redirects("/same")(request, response);
      else if (request.url === "/same") redirects("https://other.example.org/away")(request, response);
      else if (request.url === "/away") redirects("https://example.com/back")(request, response);
      else says("done")(request, response);
    };
    await internet.addSite(note);
    await internet.addSite(note, { name: "other.example.org", addresses: ["93.184.215.15"] });
    const headers = {
      Authorization: "Bearer secret",
      Cookie: "a=b",
      "X-Api-Key": "secret",
      "User-Agent": "mine",
    };
    await fetchText("https://example.com/start", {}, { headers });
    const whole = { authorization: "Bearer secret", cookie: "a=b", key: "secret", agent: "mine" };
    expect(seen).toEqual([
      { host: "example.com", ...whole },
      { host: "example.com", ...whole },
      { host: "other.example.org", agent: "mine" },
      { host: "example.com", agent: "mine" },
    ]);
  });

  it("does not send a body to another origin (A20)", async () => {
    const bodies: string[] = [];
    const note: RequestListener = (request, response) => {
      let body = "";
      request.on("data", (bytes) => {
        body += bytes;
      });
      request.on("end", () => {
        bodies.push(`${request.method} ${request.url} ${body}`);
        const status = Number(/\d+/.exec(request.url ?? "")?.[0] ?? 0);
        const place = request.url?.startsWith("/away") ? "https://other.example.org/x" : "/x";
        if (status) redirects(place, status)(request, response);
        else says("done")(request, response);
      });
    };
    await internet.addSite(note);
    await internet.addSite(note, { name: "other.example.org", addresses: ["93.184.215.15"] });
    const post = { method: "POST", body: "secret" };
    for (const status of [307, 308])
      expect(await getFetchError(`https://example.com/away/${status}`, {}, post)).toMatchObject(
        matchRefusal("redirect"),
      );
    expect(await fetchText("https://example.com/away/303", {}, post)).toBe("done");
    expect(await fetchText("https://example.com/same/308", {}, post)).toBe("done");
    expect(bodies).toEqual([
      "POST /away/307 secret",
      "POST /away/308 secret",
      "POST /away/303 secret",
      "GET /x ",
      "POST /same/308 secret",
      "POST /x secret",
    ]);
  });

  it("by Refresh, by a meta element or by a script is not followed (A21)", async () => {
    const page = `<meta http-equiv="refresh" content="0; url=https://other.example.org/"><script>location = "https://other.example.org/"</script>`;
    await internet.addSite(
      says(page, { "content-type": "text/html", refresh: "0; url=https://other.example.org/" }),
    );
    expect(await fetchText("https://example.com/")).toContain("refresh");
    expect(internet.lookups).toEqual(["example.com"]);
    expect(internet.connections).toHaveLength(1);
  });
});

describe("a body", () => {
  const zeros = Buffer.alloc(10_000_000);

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
    ["GZIP", gzipSync],
    ["identity", (text: Buffer) => text],
  ])("in %s is decompressed (A23)", async (coding, compress) => {
    await internet.addSite(says(compress(Buffer.from("words ".repeat(100))), { "content-encoding": coding }));
    expect(await fetchText("https://example.com/")).toBe("words ".repeat(100));
  });

  it.each([
    ["10 GB of gzip", "gzip", Buffer.concat(Array<Buffer>(1000).fill(gzipSync(zeros)))],
    ["100 MB of brotli", "br", brotliCompressSync(Buffer.alloc(100_000_000))],
    ["10 MB of deflate", "deflate", deflateSync(zeros)],
  ])("of %s ends at its cap with flat memory (A23, S4-41)", async (_what, coding, bomb) => {
    await internet.addSite(says(bomb, { "content-encoding": coding }));
    const grown = await measurePeakMemory(async () => {
      expect(await getFetchError("https://example.com/")).toMatchObject(matchRefusal("size"));
    });
    expect(grown).toBeLessThan(60);
  });

  it("that expands slowly ends at 10 MB after decompression (A23)", async () => {
    const noise = Buffer.from(
      Array.from({ length: 300_000 }, (_, index) => `${(index * 7919) % 100_003} and `).join(""),
    );
    const member = gzipSync(noise);
    expect(noise.length / member.length).toBeLessThan(50);
    await internet.addSite(
      says(Buffer.concat(Array<Buffer>(8).fill(member)), { "content-encoding": "gzip" }),
    );
    expect(await getFetchError("https://example.com/")).toMatchObject({
      ...matchRefusal("size"),
      message: expect.stringContaining("larger than 10000000 bytes"),
    });
  });

  it.each([
    "gzip, gzip",
    "gzip, gzip, gzip",
    "gzip,br",
    "zstd",
    "compress",
    "chunked-gzip",
    "toString",
  ])("in %s is refused: one coding that is known (A23)", async (coding) => {
    await internet.addSite(says(gzipSync(gzipSync(Buffer.from("x"))), { "content-encoding": coding }));
    expect(await getFetchError("https://example.com/")).toMatchObject(matchRefusal("coding"));
  });

  it("with two headers for its codings is refused (A23)", async () => {
    await internet.addRawSite((socket) => {
      socket.end(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\nx",
      );
    });
    expect(await getFetchError("http://example.com/", { allowHttp: true })).toMatchObject(
      matchRefusal("coding"),
    );
  });

  it("that is announced as too large is not read (A24)", async () => {
    await internet.addSite((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": "10000000000" });
      response.write("x");
    });
    expect(await getFetchError("https://example.com/")).toMatchObject(matchRefusal("size"));
  });

  it("without end ends at 10 MB, with flat memory (A24, S4-41)", async () => {
    let sent = 0;
    await internet.addSite((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const piece = Buffer.alloc(65_536, "x");
      const more = () => {
        while (!response.destroyed && response.write(piece)) sent += piece.length;
      };
      response.on("drain", more);
      more();
    });
    const grown = await measurePeakMemory(async () => {
      expect(await getFetchError("https://example.com/")).toMatchObject(matchRefusal("size"));
    });
    expect(sent).toBeLessThan(40_000_000);
    expect(grown).toBeLessThan(80);
  });

  it.each([
    "body",
    "headers",
    "handshake",
  ])("that trickles ends with the timeout: %s (A24, S4-41)", async (slow) => {
    await internet.addRawSite((socket) => {
      const sends = setInterval(() => socket.write(slow === "headers" ? "x" : "y"), 20);
      socket.on("close", () => clearInterval(sends));
      if (slow === "handshake") clearInterval(sends);
      if (slow === "body") socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
      if (slow === "headers") socket.write("HTTP/1.1 200 OK\r\nX-Slow: ");
    });
    const scheme = slow === "handshake" ? "https" : "http";
    expect(await getFetchError(`${scheme}://example.com/`, { allowHttp: true, totalMs: 200 })).toMatchObject({
      code: "tool_timeout",
      retryable: false,
    });
  });

  it("with endless redirects and lookups has one overall timeout (A24)", async () => {
    await internet.addPlainSite((request, response) => {
      setTimeout(() => redirects(`${request.url}x`)(request, response), 80);
    });
    const options = { allowHttp: true, totalMs: 200, maxRedirects: 1000 };
    expect(await getFetchError("http://example.com/", options)).toMatchObject({ code: "tool_timeout" });
    const never = { resolve: () => new Promise<never>(() => undefined), totalMs: 50 };
    expect(await getFetchError("https://example.com/", never)).toMatchObject({ code: "tool_timeout" });
  });

  it("that is never read ends with the timeout and breaks nothing (A24)", async () => {
    const closed = Promise.withResolvers<void>();
    await internet.addSite((request, response) => {
      request.socket.on("close", () => closed.resolve());
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("x");
    });
    await guardedFetch({ ...internet.options, totalMs: 5_000 })("https://example.com/");
    await closed.promise;
  });

  it("that breaks off is a retryable error, never half a response", async () => {
    await internet.addRawSite((socket) => {
      socket.end("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf");
    });
    expect(await getFetchError("http://example.com/", { allowHttp: true })).toMatchObject({
      code: "tool_failed",
      retryable: true,
    });
  });
});

describe("headers", () => {
  it.each([
    ["one of 1 MB", `X-Large: ${"x".repeat(1_000_000)}\r\n`],
    ["100,000 of them", "a: b\r\n".repeat(100_000)],
    ["a reason of 1 MB", undefined],
  ])("are refused beyond 64 KB: %s (A24)", async (_what, lines) => {
    await internet.addRawSite((socket) => {
      const status =
        lines === undefined ? `HTTP/1.1 200 ${"x".repeat(1_000_000)}\r\n` : `HTTP/1.1 200 OK\r\n${lines}`;
      socket.end(`${status}Content-Type: text/plain\r\n\r\nx`);
    });
    const grown = await measurePeakMemory(async () => {
      expect(await getFetchError("http://example.com/", { allowHttp: true })).toMatchObject(
        matchRefusal("headers"),
      );
    });
    expect(grown).toBeLessThan(30);
  });

  it("are read up to 64 KB (A24)", async () => {
    const lines = (bytes: number) => `X-Large: ${"x".repeat(1000)}\r\n`.repeat(bytes / 1000);
    await internet.addRawSite((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${lines(60_000)}\r\nx`);
    });
    expect(await fetchText("http://example.com/", { allowHttp: true })).toBe("x");
    await internet.addRawSite((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${lines(70_000)}\r\nx`);
    });
    expect(await getFetchError("http://example.com/", { allowHttp: true })).toMatchObject(
      matchRefusal("headers"),
    );
  });

  it("with endless informational responses or another protocol are refused (A24)", async () => {
    await internet.addRawSite((socket) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(1000));
    });
    expect(await getFetchError("http://example.com/", { allowHttp: true })).toMatchObject(
      matchRefusal("headers"),
    );
    internet.setAnswers("other.example.org", ["93.184.215.16"]);
    await internet.addRawSite(
      (socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
      },
      { name: "other.example.org", addresses: ["93.184.215.16"] },
    );
    expect(await getFetchError("http://other.example.org/", { allowHttp: true })).toMatchObject(
      matchRefusal("headers"),
    );
  });

  it.each([
    "nonsense\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx",
    "",
  ])("that are not HTTP are an error: %j", async (bytes) => {
    await internet.addRawSite((socket) => socket.end(bytes));
    expect(await getFetchError("http://example.com/", { allowHttp: true })).toMatchObject({
      code: "tool_failed",
    });
  });

  it("of the connection cannot be set by the caller", async () => {
    const seen: object[] = [];
    await internet.addSite((request, response) => {
      const { host, connection, "accept-encoding": codings, "transfer-encoding": transfer } = request.headers;
      seen.push({ host, connection, codings, transfer });
      says("x")(request, response);
    });
    const headers = {
      Host: "evil.example",
      Connection: "upgrade",
      "Accept-Encoding": "zstd",
      "Transfer-Encoding": "chunked",
    };
    await fetchText("https://example.com/", {}, { headers });
    expect(seen).toEqual([{ host: "example.com", connection: "close", codings: "gzip, br, deflate" }]);
    const split = await getFetchError("https://example.com/", {}, { headers: { "x-a": "b\r\nx-c: d" } });
    expect(split.code).toBe("tool_failed");
    expect(seen).toHaveLength(1);
  });
});

describe("a response without a body", () => {
  it.each([204, 304])("%i needs no media type", async (status) => {
    await internet.addSite((_request, response) => {
      response.writeHead(status).end();
    });
    const response = await guardedFetch(internet.options)("https://example.com/");
    expect([response.status, (await response.bytes()).length]).toEqual([status, 0]);
  });
});

describe("a response can be read in chunks", () => {
  it("as it arrives", async () => {
    const firstIsRead = Promise.withResolvers<void>();
    await internet.addSite((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "x-a": "b" });
      response.write("one");
      void firstIsRead.promise.then(() => response.end("two"));
    });
    const { body, headers } = await guardedFetch({ ...internet.options, totalMs: "unlimited" })(
      "https://example.com/",
    );
    const pieces: string[] = [];
    for await (const piece of body) {
      pieces.push(new TextDecoder().decode(piece));
      firstIsRead.resolve();
    }
    expect(pieces).toEqual(["one", "two"]);
    expect(headers.get("x-a")).toBe("b");
  });
});

describe("a URL that is shown to the user", () => {
  const check = (url: string) => checkPublicUrl(url, { resolve: internet.options.resolve });

  it.each([
    ...[
      "file:///etc/passwd",
      "javascript:alert(1)",
      "http://login.example.com/",
      "vbscript:x",
      "data:text/html,x",
    ],
    ...["https://127.0.0.1/authorize", "https://inside.example.com/authorize", "https://localhost/authorize"],
    ...[
      "https://169.254.169.254/",
      "https://user@login.example.com/",
      "cmd /c calc.exe",
      "https://login.example.com\\..\\calc.exe",
    ],
    ...[
      "a:$(calc)",
      "https://login.example.com:22/",
      "\\\\server\\share",
      "https://login.example.com/\u0000",
    ],
  ])("is refused when it is %s (A33)", async (url) => {
    internet.setAnswers("login.example.com", [publicAddress]);
    internet.setAnswers("inside.example.com", ["10.0.0.1"]);
    await expect(check(url)).rejects.toMatchObject({ code: "security" });
  });

  it("is returned in normalized form when it is https and public (A33)", async () => {
    internet.setAnswers("login.example.com", [publicAddress]);
    const url = await check("https://login.example.com/authorize?client_id=a b&scope=x");
    expect(url.href).toBe("https://login.example.com/authorize?client_id=a%20b&scope=x");
    await expect(check("https://unknown.example.com/")).rejects.toMatchObject({ code: "tool_failed" });
  });
});

describe("invalid options", () => {
  it.each([{ ownOrigins: ["https://"] }, { nat64Prefixes: ["10.0.0.0/8"] }])("%j are refused", (options) => {
    expect(() => guardedFetch(options)).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  });
});
