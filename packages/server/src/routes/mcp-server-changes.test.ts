import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type McpTools, mcpTools, type ServerConfig } from "@capstan/mcp";
import { findFreePort } from "@capstan/verification/find-free-port";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { McpServerFile } from "../mcp-settings.ts";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const everything = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);
const hostile = fileURLToPath(new URL("../testing/hostile-mcp-server.ts", import.meta.url));
const localKey = "canary-local-key-0123456789";
const admin = { authorization: `Bearer ${localKey}` };

let mcp: McpTools;
let web: ChildProcess;
let webUrl: string;
let careful: TestServer;
let open: TestServer;
const stored = new Map<string, ServerConfig>();
const file: McpServerFile = {
  path: "/project/.mcp.json",
  list: async () => [...stored.keys()],
  put: async (name, config) => {
    if (name === "unwritable") throw Object.assign(new Error("no"), { name: "Error" });
    stored.set(name, config);
  },
  remove: async (name) => void stored.delete(name),
};

beforeAll(async () => {
  const port = await findFreePort();
  webUrl = `http://127.0.0.1:${port}/mcp`;
  web = spawn(process.execPath, [everything, "streamableHttp"], {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, PORT: String(port) },
    stdio: "pipe",
  });
  web.stdout?.resume();
  await once(web.stderr ?? web, "data");
  mcp = await mcpTools({
    mcpServers: { coded: { command: process.execPath, args: [everything], startTimeout: 60_000 } },
    variables: { CANARY: "canary-variable-0123456789" },
  });
  const options = { agents: [createHelloAgent()], mcp, apiKey: localKey };
  careful = createTestServer({ ...options, mcpSettings: { file } });
  open = createTestServer({ ...options, mcpSettings: { file, allowsCommands: true } });
});
afterAll(async () => {
  await Promise.all([careful?.close(0), open?.close(0)]);
  await mcp?.close();
  web?.kill("SIGKILL");
});

async function send(server: TestServer, method: string, path: string, body?: object) {
  const response = await server.send(method, path, body, admin);
  return { status: response.status, ...(await response.json()) };
}

const call = (server: string, tool: string, input: object, isConfirmed = true) =>
  send(open, "POST", `/api/mcp-servers/${server}/tools/${tool}/call`, { input, isConfirmed });

it("an admin adds a server with a URL, uses it and removes it (S4-02)", async () => {
  const added = await send(careful, "POST", "/api/mcp-servers", {
    name: "web",
    config: { url: `${webUrl}?key=canary-query`, headers: { authorization: "Bearer canary-header-012345" } },
  });
  expect(added.status).toBe(200);
  expect(added.servers).toMatchObject([
    { name: "coded", canRemove: false },
    { name: "web", canRemove: true, state: "ready", address: webUrl },
  ]);
  expect(JSON.stringify(added)).not.toContain("canary-");
  expect(stored.get("web")).toMatchObject({ url: `${webUrl}?key=canary-query` });
  const again = await send(careful, "POST", "/api/mcp-servers", { name: "web", config: { url: webUrl } });
  expect([again.status, again.error.message]).toEqual([
    400,
    expect.stringContaining('already an MCP server "web"'),
  ]);
  expect((await call("web", "echo", { message: "hello" })).content).toBe("Echo: hello");
  const kept = await send(careful, "DELETE", "/api/mcp-servers/coded");
  expect([kept.status, kept.error.code]).toEqual([403, "forbidden"]);
  const removed = await send(careful, "DELETE", "/api/mcp-servers/web");
  expect(removed.servers.map(({ name }: { name: string }) => name)).toEqual(["coded"]);
  expect([...stored.keys()]).toEqual([]);
  expect((await send(careful, "DELETE", "/api/mcp-servers/web")).status).toBe(404);
});

it("no program is started from a request unless the operator allows it (A47)", async () => {
  const marker = join(tmpdir(), `canary-started-${process.pid}`);
  const program = {
    command: process.execPath,
    args: ["-e", `fs.writeFileSync(${JSON.stringify(marker)}, "")`],
  };
  const refused = await send(careful, "POST", "/api/mcp-servers", { name: "program", config: program });
  expect([refused.status, refused.error.message]).toEqual([403, expect.stringContaining("--mcp-commands")]);
  const variable = { url: `${webUrl}/\${CANARY}` };
  const leaked = await send(careful, "POST", "/api/mcp-servers", { name: "leak", config: variable });
  expect([leaked.status, leaked.error.code]).toEqual([403, "forbidden"]);
  expect(mcp.status().map(({ name }) => name)).toEqual(["coded"]);
  expect(stored.size).toBe(0);
  expect(existsSync(marker)).toBe(false);
  const odd = { command: process.execPath, cwd: "/", trust: "metadata" };
  expect((await send(open, "POST", "/api/mcp-servers", { name: "odd", config: odd })).status).toBe(400);
  expect(await send(careful, "GET", "/api/mcp-settings")).toEqual({
    ...{ status: 200, canAdd: true, allowsCommands: false, file: "/project/.mcp.json" },
  });
});

it("a server that cannot be stored is not started either", async () => {
  const config = { url: webUrl };
  expect((await send(careful, "POST", "/api/mcp-servers", { name: "unwritable", config })).status).toBe(500);
  expect(mcp.status().map(({ name }) => name)).toEqual(["coded"]);
  for (const [name, url] of [
    ["no such name", webUrl],
    ["odd", "file:///etc/passwd"],
  ])
    expect((await send(careful, "POST", "/api/mcp-servers", { name, config: { url } })).status).toBe(400);
  expect(stored.size).toBe(0);
});

it("an admin calls a tool, reads resources and prompts, and sees the messages (S4-43)", async () => {
  const path = "/api/mcp-servers/coded";
  const unconfirmed = await call("coded", "echo", { message: "hello" }, false);
  expect([unconfirmed.status, unconfirmed.error.code]).toEqual([403, "forbidden"]);
  expect(await call("coded", "echo", { message: "hello" })).toMatchObject({
    ...{ status: 200, content: "Echo: hello", declined: [] },
  });
  const invalid = await call("coded", "echo", { message: 7 });
  expect([invalid.status, invalid.error.code]).toEqual([400, "bad_arguments"]);
  expect((await call("coded", "nothing", {})).status).toBe(404);
  const { resources } = await send(open, "GET", `${path}/resources`);
  const [{ uri }] = resources;
  const { contents } = await send(open, "GET", `${path}/resource?uri=${encodeURIComponent(uri)}`);
  expect(contents[0]).toMatchObject({ uri });
  const missing = await send(open, "GET", `${path}/resource?uri=nothing%3A%2F%2Fhere`);
  expect([missing.status, missing.error.code]).toEqual([200, "tool_failed"]);
  const { prompts } = await send(open, "GET", `${path}/prompts`);
  expect(prompts.map(({ name }: { name: string }) => name)).toContain("simple-prompt");
  const { messages } = await send(open, "POST", `${path}/prompts/simple-prompt`, {});
  expect(messages[0]).toMatchObject({ role: "user" });
  const traffic = (await send(open, "GET", `${path}/traffic`)).messages;
  const echoes = traffic.filter(({ text }: { text: string }) => text.includes("hello"));
  expect(echoes.map(({ direction }: { direction: string }) => direction)).toEqual(["sent", "received"]);
  const later = (await send(open, "GET", `${path}/traffic?after=${traffic.at(-1).number - 1}`)).messages;
  expect(later).toEqual([traffic.at(-1)]);
});

it("a hostile server is listed and called without harm (A127)", async () => {
  const config = { command: process.execPath, args: [hostile] };
  const added = await send(open, "POST", "/api/mcp-servers", { name: "hostile", config });
  const { tools, problems, metadata } = added.servers[1];
  const names = tools.map(({ name }: { name: string }) => name);
  expect(names).toContain("recursive");
  expect(names).toContain("huge");
  expect(names).not.toContain("<img src=x onerror=alert(1)>");
  expect(problems.join("\n")).toContain('"invalid" is not offered');
  expect(JSON.stringify(metadata).length).toBeLessThan(3_000_000);
  const child = { name: "b", children: [] };
  const result = await call("hostile", "recursive", { name: "a", children: [child] });
  expect(result.content[0].text).toContain("<script>");
  expect((await call("hostile", "recursive", { name: "a", children: [{ children: 1 }] })).status).toBe(400);
  expect(await call("hostile", "ask", {})).toMatchObject({
    declined: ['The MCP server "hostile" asks: Your password?'],
    content: "decline",
  });
  expect(await call("hostile", "fail", {})).toMatchObject({ status: 200, error: { message: "It failed." } });
  await send(open, "DELETE", "/api/mcp-servers/hostile");
});

it("every change, call and message is for admins only (A84)", async () => {
  const ada = { authorization: `Bearer ${(await open.keys.create({ user: "ada" })).secret}` };
  const requests = [
    ["GET", "/api/mcp-settings"],
    ["POST", "/api/mcp-servers", { name: "mine", config: { url: webUrl } }],
    ["DELETE", "/api/mcp-servers/coded"],
    ["POST", "/api/mcp-servers/coded/sign-in"],
    ["POST", "/api/mcp-servers/coded/sign-out"],
    ["POST", "/api/mcp-servers/coded/tools/echo/call", { input: {}, isConfirmed: true }],
    ["GET", "/api/mcp-servers/coded/resources"],
    ["GET", "/api/mcp-servers/coded/resource?uri=demo"],
    ["GET", "/api/mcp-servers/coded/prompts"],
    ["POST", "/api/mcp-servers/coded/prompts/simple-prompt", {}],
    ["GET", "/api/mcp-servers/coded/traffic"],
  ] as const;
  for (const [method, path, body] of requests)
    expect((await open.send(method, path, body, ada)).status, `${method} ${path}`).toBe(403);
  const [coded] = (await (await open.send("GET", "/api/mcp-servers", undefined, ada)).json()).servers;
  expect(coded).not.toHaveProperty("address");
  expect(coded.canRemove).toBe(false);
});
