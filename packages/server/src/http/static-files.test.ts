import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let folder: string;
let server: TestServer;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-static-"));
  const site = join(folder, "site");
  mkdirSync(join(site, "assets"), { recursive: true });
  mkdirSync(join(site, "empty"));
  writeFileSync(join(site, "index.html"), "<title>Studio</title>");
  writeFileSync(join(site, "pages.json"), JSON.stringify(["/", "/agents", "/sessions/:id", "/a/:b/c.d"]));
  writeFileSync(join(site, "favicon.svg"), "<svg/>");
  writeFileSync(join(site, "assets", "app-Ab3_x9Zq.js"), "run()");
  writeFileSync(join(site, "assets", "app-Ab3_x9Zq.js.br"), brotliCompressSync("run()"));
  writeFileSync(join(site, "assets", "app-Ab3_x9Zq.js.gz"), gzipSync("run()"));
  writeFileSync(join(site, "assets", "component.js"), "part()");
  writeFileSync(join(site, ".env"), "PLANTED=1");
  writeFileSync(join(folder, "secret.txt"), "PLANTED");
  symlinkSync(join(folder, "secret.txt"), join(site, "link.txt"));
  symlinkSync(folder, join(site, "up"));
  server = createTestServer({ agents: [createHelloAgent()], studio: { folder: site } });
});
afterAll(async () => {
  await server.close(0);
  rmSync(folder, { recursive: true });
});

it("serves pages and files, with security headers", async () => {
  for (const path of [
    "/",
    "/sessions/ada~ses_1",
    "/sessions/a.b%2Fc",
    "/agents/?q=1",
    "/Agents",
    "/a/b/c.d",
  ]) {
    const page = await server.send("GET", path);
    expect([page.status, await page.text()], path).toEqual([200, "<title>Studio</title>"]);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toMatchInlineSnapshot(
      `"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:; media-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"`,
    );
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  }
  const hashed = await server.send("GET", "/assets/app-Ab3_x9Zq.js");
  expect(await hashed.text()).toBe("run()");
  expect(hashed.headers.get("cache-control")).toContain("immutable");
  const plain = await server.send("GET", "/assets/component.js");
  expect(plain.headers.get("cache-control")).toBe("no-cache");
  const etag = plain.headers.get("etag") ?? "";
  const again = await server.send("GET", "/assets/component.js", undefined, { "if-none-match": etag });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const head = await server.send("HEAD", "/favicon.svg");
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
    200,
    "image/svg+xml",
    "",
  ]);
});

it.each([
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, deflate", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["BR ; q=0.1", "br"],
  ["*", "br"],
  ["*;q=0", null],
  ["gzip;q=0", null],
  ["identity", null],
  ["brotli", null],
  ["", null],
])("a request that accepts %j gets a file encoded with %s", async (accepted, encoding) => {
  const answer = await server.send("GET", "/assets/app-Ab3_x9Zq.js", undefined, {
    "accept-encoding": accepted,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ""] ?? String;
  expect([answer.headers.get("content-encoding"), String(decode(bytes))]).toEqual([encoding, "run()"]);
  expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(answer.headers.get("vary")).toMatch(/accept-encoding/i);
  expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
});

it("each encoding of a file has its own ETag", async () => {
  const path = "/assets/app-Ab3_x9Zq.js";
  const tags = await Promise.all(
    ["br", "gzip", "identity"].map(async (encoding) => {
      const { headers } = await server.send("GET", path, undefined, { "accept-encoding": encoding });
      return headers.get("etag") ?? "";
    }),
  );
  expect(new Set(tags).size).toBe(3);
  const [brotliTag = ""] = tags;
  for (const [encoding, tag, status] of [
    ["br", brotliTag, 304],
    ["br", `"other", W/${brotliTag}`, 304],
    ["gzip", brotliTag, 200],
  ] as const) {
    const headers = { "accept-encoding": encoding, "if-none-match": tag };
    expect((await server.send("GET", path, undefined, headers)).status, `${encoding} ${tag}`).toBe(status);
  }
});

it.each([
  "/assets/app-Ab3_x9Zq.js.br",
  "/assets/app-Ab3_x9Zq.js.gz",
  "/..%2fsecret.txt",
  "/..%2Fsecret.txt",
  "/%2e%2e%2fsecret.txt",
  "/../secret.txt",
  "/assets/../../secret.txt",
  "/..%5csecret.txt",
  "/assets%5c..%5c..%5csecret.txt",
  "/assets%2fcomponent.js",
  "//secret.txt",
  "//",
  "//favicon.svg",
  "/.env",
  "/%2eenv",
  "/.git/config",
  "/@fs/etc/passwd",
  "/@fs/",
  "/@vite/client",
  "/favicon.svg?raw",
  "/favicon.svg?import&raw",
  "/favicon.svg%00.png",
  "/%00",
  "/link.txt",
  "/up/secret.txt",
  "/secret.txt",
  "/FAVICON.SVG",
  "/favicon.svg/",
  "/favicon.svg;x",
  "/index.html/../.env",
  "/login",
  "/agents/1",
  "/sessions",
  "/sessions/",
  "/sessions/1/2",
  "/sessions//",
  "/a/b/c_d",
  "/api",
  "/api/nothing",
  "/v1/nothing",
  "/mcp/nothing",
  "/__proto__.x",
])("%s is not found (A93)", async (path) => {
  const answer = await server.send("GET", path);
  expect(answer.status).toBe(404);
  expect(await answer.text()).not.toContain("PLANTED");
});

it("without a list of pages, every path without an extension is a page of the folder", async () => {
  const site = join(folder, "single-page-app");
  mkdirSync(site);
  writeFileSync(join(site, "index.html"), "<title>App</title>");
  const app = createTestServer({ agents: [createHelloAgent()], studio: { folder: site } });
  for (const path of ["/", "/login", "/a/b/c"])
    expect(await (await app.send("GET", path)).text(), path).toBe("<title>App</title>");
  for (const path of ["/a.txt", "/api/nothing"]) expect((await app.send("GET", path)).status, path).toBe(404);
  await app.close(0);
});

it.each(["{}", "[1]", '["agents"]', "nonsense"])("a list of pages like %s is refused", (text) => {
  const site = mkdtempSync(join(folder, "broken-"));
  writeFileSync(join(site, "pages.json"), text);
  expect(() => createTestServer({ agents: [createHelloAgent()], studio: { folder: site } })).toThrow(
    /pages\.json.*a list of paths such as/,
  );
});

it("serves nothing to other methods", async () => {
  for (const method of ["POST", "DELETE", "PUT"])
    expect((await server.send(method, "/favicon.svg")).status, method).toBe(404);
});

it("pages too answer only to names of this machine (A75)", async () => {
  const answer = await server.send("GET", "/", undefined, { host: "evil.example" });
  expect([answer.status, (await answer.text()).includes("Studio")]).toEqual([421, false]);
});
