import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type McpTools, mcpTools } from "@capstan/mcp";
import { defineAgent, type Entry, type Fact, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectDocumented, getRouteName } from "../testing/expect-documented.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { mcpAppRoutes } from "./mcp-apps.ts";

const script = fileURLToPath(new URL("../../../mcp/src/client/testing/app-server.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "capstan-apps-"));
let mcp: McpTools;
let store: Store;
let server: TestServer;
let lastHistory: readonly Entry[];

beforeAll(async () => {
  writeFileSync(join(folder, "page.html"), "<h1>Counter</h1>");
  const counter = {
    ...{ command: process.execPath, args: [script, folder], startTimeout: 60_000 },
    tools: { peek: { effects: "none" } },
  } as const;
  mcp = await mcpTools({ mcpServers: { counter } });
});
afterAll(async () => {
  await mcp.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await server?.close();
  rmSync(join(folder, "resource.json"), { force: true });
  rmSync(join(folder, "calls.log"), { force: true });
});

function startServer(kept: Store = memory()): void {
  store = kept;
  const model = scriptedModel(({ history }) => {
    lastHistory = history;
    if (history.some(({ type }) => type === "result")) return { text: "Here it is." };
    return { calls: [{ name: "mcp_counter_show_counter" }] };
  });
  const agents = [defineAgent({ name: "guide", model, tools: () => mcp.tools })];
  server = createTestServer({ agents, store, mcp });
}

type Headers = Record<string, string>;

const read = async (method: string, path: string, body?: unknown, headers?: Headers) =>
  (await server.send(method, path, body, headers)).json();
const listCalls = () => readFileSync(join(folder, "calls.log"), "utf8").trim().split("\n");

/** Waits until the newest run of the session is in this state. */
async function waitForRun(runId: string, state: string, headers?: Headers): Promise<Record<string, unknown>> {
  const readRun = () => read("GET", `/api/runs/${runId}`, undefined, headers);
  await expect.poll(readRun).toMatchObject({ state });
  return readRun();
}

/** Starts a conversation in which the model has called the tool with the app. */
async function showCounter(user?: string): Promise<{
  readonly sessionId: string;
  readonly path: string;
  readonly headers: Headers;
}> {
  startServer();
  const headers = user === undefined ? {} : await authorize(user);
  const { runId, sessionId } = await read("POST", "/api/runs", { input: "Show the counter." }, headers);
  await waitForRun(runId, "ended", headers);
  const facts = await store.read(sessionId, 0, 100);
  const { seq } = facts.find(({ type }) => type === "tool_call_start") as Fact;
  return { sessionId, path: `/api/sessions/${sessionId}/apps/${seq}`, headers };
}

const authorize = async (user: string): Promise<Headers> => ({
  authorization: `Bearer ${(await server.keys.create({ user })).secret}`,
});

describe("each route of an MCP App", () => {
  it.each(
    mcpAppRoutes.map((route) => [getRouteName(route), route] as const),
  )("answers its user as documented, and does not exist for others: %s (A84, A140)", async (_, route) => {
    const { path, sessionId, headers } = await showCounter("ada");
    const { app } = await read("GET", path, undefined, headers);
    const requests: Record<string, { readonly path: string; readonly body?: object }> = {
      "GET /api/sessions/{sessionId}/apps/{seq}": { path },
      "GET /api/sessions/{sessionId}/apps/{seq}/page": { path: `${path}/page?digest=${app.digest}` },
      "POST /api/sessions/{sessionId}/apps/{seq}/calls": { path: `${path}/calls`, body: { tool: "peek" } },
    };
    const request = requests[getRouteName(route)] ?? expect.unreachable("No request for this route.");
    const send = (given: string, sent?: Headers) => server.send(route.method, given, request.body, sent);
    const missingPath = request.path.replace(sessionId, "ada~ses_nowhere");
    expect((await send(request.path, {})).status).toBe(401);
    const admin = (await server.keys.create({ user: "root", isAdmin: true })).secret;
    for (const other of [await authorize("eve"), { authorization: `Bearer ${admin}` }]) {
      const refusal = await send(request.path, other);
      expect(refusal.status).toBe(404);
      const missing = await send(missingPath, other);
      const text = await missing.text();
      expect(await refusal.text()).toBe(text.replaceAll("ada~ses_nowhere", sessionId));
    }
    expect(listCalls()).toEqual(["show_counter 0"]);
    expect((await store.listRuns(sessionId)).length).toBe(1);
    const answer = await send(request.path, headers);
    expect(answer.status).toBe(route.method === "POST" ? 202 : 200);
    const { runId } = route.method === "POST" ? await answer.clone().json() : {};
    await expectDocumented(route, answer);
    if (runId !== undefined) await waitForRun(runId, "ended", headers);
  });

  it("of a page that cannot be read answers as documented (A140)", async () => {
    writeFileSync(join(folder, "resource.json"), JSON.stringify({ mimeType: "text/html" }));
    const { path } = await showCounter();
    const [route] = mcpAppRoutes;
    const answer = await server.send("GET", path);
    expect(await answer.clone().json()).toMatchObject({ error: { code: "mcp_protocol" } });
    await expectDocumented(route ?? expect.unreachable(), answer);
  });
});

describe("the page of an MCP App", () => {
  it("is the server's own, under a policy that isolates it and allows the declared origins only", async () => {
    const meta = {
      ui: {
        csp: {
          connectDomains: [
            "https://api.example.com",
            "*",
            "http://127.0.0.1:4680",
            "https://a.example; script-src *",
          ],
          resourceDomains: ["https://*.cdn.example.com"],
        },
      },
    };
    writeFileSync(join(folder, "resource.json"), JSON.stringify({ _meta: meta }));
    const { path } = await showCounter();
    const { app } = await read("GET", path);
    expect(app).toMatchObject({ server: "counter", domains: { connect: ["https://api.example.com"] } });
    const response = await server.send("GET", `${path}/page?digest=${app.digest}`);
    expect(await response.text()).toBe("<h1>Counter</h1>");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("x-dns-prefetch-control")).toBe("off");
    expect(response.headers.get("connection-allowlist")).toBe(
      '("https://api.example.com/*" "https://*.cdn.example.com/*")',
    );
    expect(response.headers.get("content-security-policy")).toMatchInlineSnapshot(
      `"default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data: https://*.cdn.example.com; style-src 'unsafe-inline' blob: data: https://*.cdn.example.com; img-src blob: data: https://*.cdn.example.com; font-src blob: data: https://*.cdn.example.com; media-src blob: data: https://*.cdn.example.com; worker-src blob:; connect-src https://api.example.com; frame-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-forms"`,
    );
  });

  it("is refused if it needs other origins than the user was shown (A140)", async () => {
    const { path } = await showCounter();
    const { app } = await read("GET", path);
    const meta = { ui: { csp: { connectDomains: ["https://elsewhere.example"] } } };
    writeFileSync(join(folder, "resource.json"), JSON.stringify({ _meta: meta }));
    const response = await server.send("GET", `${path}/page?digest=${app.digest}`);
    expect(response.status).toBe(409);
  });

  it.each([
    ["a huge page", { text: "x".repeat(4 * 1024 * 1024 + 1) }, /the limit is 4194304/],
    ["a page that is not HTML", { mimeType: "application/pdf" }, /its type is "application\/pdf/],
    ["plain HTML without the profile", { mimeType: "text/html" }, /not "text\/html;profile=mcp-app/],
    ["another resource", { uri: "ui://other/page.html" }, /another resource/],
  ])("of a server that returns %s is refused (A140)", async (_title, resource, message) => {
    writeFileSync(join(folder, "resource.json"), JSON.stringify(resource));
    const { path } = await showCounter();
    const { error } = await read("GET", path);
    expect(error).toMatchObject({ code: "mcp_protocol", message: expect.stringMatching(message) });
    expect((await server.send("GET", `${path}/page?digest=x`)).status).toBe(500);
  });

  it("is not shown in a window of its own, nor for a call without an app, nor to another user (A140)", async () => {
    const { path, sessionId } = await showCounter();
    const { app } = await read("GET", path);
    const page = `${path}/page?digest=${app.digest}`;
    const inWindow = await server.send("GET", page, undefined, { "sec-fetch-dest": "document" });
    expect(inWindow.status).toBe(403);
    expect((await server.send("GET", `/api/sessions/${sessionId}/apps/1`)).status).toBe(404);
    const { secret } = await server.keys.create({ user: "eve" });
    const asOther = await server.send("GET", page, undefined, { authorization: `Bearer ${secret}` });
    expect(asOther.status).toBe(404);
  });
});

describe("a call of an MCP App", () => {
  it("without an effect is a run of the session, which the next turn of the model knows", async () => {
    const { path, sessionId } = await showCounter();
    const { runId } = await read("POST", `${path}/calls`, { tool: "peek", arguments: {} });
    await waitForRun(runId, "ended");
    expect(listCalls()).toEqual(["show_counter 0", "peek 0"]);
    const { sessions } = await read("GET", "/api/sessions?details=true");
    expect(sessions).toMatchObject([{ id: sessionId, agent: "guide", state: "ended" }]);
    const next = await read("POST", "/api/runs", { input: "And now?", sessionId, agent: "guide" });
    await waitForRun(next.runId, "ended");
    expect(lastHistory).toContainEqual(
      expect.objectContaining({ type: "result", name: "mcp_counter_peek", status: "ok" }),
    );
    const facts = await store.read(sessionId, 0, 200);
    const start = facts.find((fact) => fact.type === "run_start" && fact.runId === runId);
    expect(start).toMatchObject({
      agent: "mcp-app:counter",
      input: [{ type: "user", provenance: "external" }],
    });
  });

  it("with an effect waits for the user's approval, and is never made without it (A140)", async () => {
    const { path } = await showCounter();
    const { runId } = await read("POST", `${path}/calls`, { tool: "add", arguments: { by: 5 } });
    const waiting = await waitForRun(runId, "waiting");
    expect(listCalls()).toEqual(["show_counter 0"]);
    const { pending } = waiting.result as { pending: { callId: string; reason: string; digest: string }[] };
    expect(pending[0]?.reason).toContain('An app of the MCP server "counter" wants to make this call.');
    await server.send("POST", `/api/runs/${runId}/approvals/${pending[0]?.callId}`, { approved: false });
    await waitForRun(runId, "ended");
    expect(listCalls()).toEqual(["show_counter 0"]);
    const again = await read("POST", `${path}/calls`, { tool: "add", arguments: { by: 7 } });
    const { result } = await waitForRun(again.runId, "waiting");
    const { callId } = (result as { pending: { callId: string }[] }).pending[0] ?? {};
    await server.send("POST", `/api/runs/${again.runId}/approvals/${callId}`, { approved: true });
    await waitForRun(again.runId, "ended");
    expect(listCalls()).toEqual(["show_counter 0", "add 7"]);
  });

  it("waits also across a restart of the server, and is made once (S0-20)", async () => {
    const { path } = await showCounter();
    const { runId } = await read("POST", `${path}/calls`, { tool: "add", arguments: { by: 3 } });
    const { result } = await waitForRun(runId, "waiting");
    await server.close();
    startServer(store);
    const { callId } = (result as { pending: { callId: string }[] }).pending[0] ?? {};
    await server.send("POST", `/api/runs/${runId}/approvals/${callId}`, { approved: true });
    await waitForRun(runId, "ended");
    expect(listCalls()).toEqual(["show_counter 0", "add 3"]);
  });

  it("reaches only tools that the server has for its apps, and an app-only tool is hidden from the model", async () => {
    const { path } = await showCounter();
    for (const tool of ["reset", "mcp_counter_add", "show_nothing", "__proto__"]) {
      const response = await server.send("POST", `${path}/calls`, { tool });
      expect(response.status).toBe(404);
      expect(await response.text()).toContain("may not call");
    }
    expect(mcp.tools.map(({ name }) => name)).not.toContain("mcp_counter_add");
    expect(listCalls()).toEqual(["show_counter 0"]);
  });
});
