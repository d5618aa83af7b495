import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentTool, defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openOwnData } from "../own-data/own-data.ts";
import { routes } from "../routes/all-routes.ts";
import { mcpAppRoutes } from "../routes/mcp-apps.ts";
import { expectDocumented, findIssues, getRouteName, openApi } from "../testing/expect-documented.ts";
import { signStandard, standardSecret } from "../testing/sign-webhook.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { textLoader } from "../testing/text-loader.ts";

const document = openApi;

function* within(value: unknown, path = "#"): Generator<{ path: string; value: object }> {
  if (typeof value !== "object" || value === null) return;
  yield { path, value };
  for (const [key, member] of Object.entries(value)) yield* within(member, `${path}/${key}`);
}

describe("the OpenAPI document", () => {
  it("has every route, with its summary, its responses and its errors", () => {
    const written = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(written.toSorted()).toEqual(routes.map(getRouteName).toSorted());
    for (const { method, path, summary, responses: answers } of routes) {
      const operation = document.paths[path]?.[method.toLowerCase()];
      expect(operation).toMatchObject({ summary });
      expect(Object.keys(operation?.responses as object)).toEqual([...Object.keys(answers), "4XX", "5XX"]);
    }
  });

  it("has one name for each operation", () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => operation.operationId),
    );
    expect(new Set(ids).size).toBe(routes.length);
  });

  it("refers to nothing that is not in it", () => {
    for (const { path, value } of within(document)) {
      const reference: unknown = Reflect.get(value, "$ref");
      if (typeof reference !== "string") continue;
      const target = reference
        .replace(/^#\//, "")
        .split("/")
        .reduce<unknown>((at, key) => Reflect.get(Object(at), key), document);
      expect(target, `${reference} at ${path}`).toBeDefined();
    }
  });

  it("declares each parameter of each path, and no other", () => {
    for (const [path, methods] of Object.entries(document.paths))
      for (const operation of Object.values(methods)) {
        const declared = (operation.parameters as { in: string; name: string; required: boolean }[])
          .filter((parameter) => parameter.in === "path")
          .map(({ name, required }) => ({ name, required }));
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, required: true }));
        expect(declared, path).toEqual(named);
      }
  });
});

const move = defineTool({ name: "move", description: "Moves", input: { type: "object" } });
const pay = defineTool({
  ...{ name: "pay", description: "Pays", input: { type: "object" }, needsApproval: true },
  execute: () => "paid",
});

let server: TestServer;
let store: Store;
let folder: string;
beforeEach(() => {
  store = memory();
  folder = mkdtempSync(join(tmpdir(), "capstan-openapi-"));
  const model = scriptedModel(({ history }) => {
    const said = history.findLast(({ type }) => type === "user");
    const name = said?.type === "user" ? String(said.content) : "";
    const isFirst = !history.some(({ type }) => type === "result");
    if (name === "fail") return { error: "model_auth" };
    if (name === "hang") return { hang: true };
    if (isFirst && name === "delegate")
      return { calls: [{ id: "c1", name: "helper", input: { prompt: "pay" } }] };
    return isFirst && ["pay", "move"].includes(name) ? { calls: [{ id: "c1", name }] } : { text: "Hello." };
  });
  const helper = defineAgent({ name: "helper", model, tools: [move, pay] });
  const chief = defineAgent({ name: "chief", model, tools: [agentTool(helper, { background: true })] });
  const agents = [helper, chief];
  const ownData = openOwnData({ store, loaders: { texts: textLoader() }, folder });
  const webhooks = { tickets: { provider: "generic", secret: standardSecret } } as const;
  server = createTestServer({ agents, store, storedAgents: { models: [model] }, data: ownData, webhooks });
});
afterEach(async () => {
  await server.close(0);
  rmSync(folder, { recursive: true });
});

type Run = { readonly runId: string; readonly sessionId: string };

async function run(input: string, state: string, agent = "helper"): Promise<Run> {
  const started: Run = await (await server.send("POST", "/api/runs", { input, agent })).json();
  for (;;) {
    const { state: at } = await (await server.send("GET", `/api/runs/${started.runId}`)).json();
    if (at === state) return started;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Adds an approval rule, and returns its session. */
async function allowAlways(): Promise<string> {
  const { runId, sessionId } = await run("pay", "waiting");
  await server.send("POST", `/api/runs/${runId}/approvals/c1`, { approved: true, always: true });
  return sessionId;
}

async function createAdminHeaders(): Promise<Record<string, string>> {
  const { secret } = await server.keys.create({ user: "root", isAdmin: true });
  return { authorization: `Bearer ${secret}` };
}

const newSchedule = { input: "Hi", when: "every weekday at 9", timeZone: "Europe/Oslo" };

async function addSchedule(): Promise<string> {
  const { id } = await (await server.send("POST", "/api/schedules", newSchedule)).json();
  return `/api/schedules/${id}`;
}

async function addData(): Promise<string> {
  const { id } = await (await server.send("POST", "/api/data", { app: "texts" })).json();
  await server.send("PUT", `/api/data/${id}/files/a.txt`);
  return `/api/data/${id}`;
}

/** Creates a dataset with one case, and returns its path. */
async function addDataset(input = "Hi"): Promise<string> {
  await server.send("PUT", "/api/datasets/d", {});
  await server.send("PUT", "/api/datasets/d/cases/c", { input, expected: "Hello.", calls: ["pay"] });
  return "/api/datasets/d";
}

const experiment = { dataset: "d", agent: "helper", scorers: ["exact", { type: "maxTurns", limit: 3 }] };

/** Starts an experiment, and returns its path: when it is done, or while it runs. */
async function addExperiment(input = "Hi", status = "done"): Promise<string> {
  await addDataset(input);
  const { id } = await (await server.send("POST", "/api/experiments", experiment)).json();
  const path = `/api/experiments/${id}`;
  while ((await (await server.send("GET", path)).json()).status !== status)
    await new Promise((resolve) => setTimeout(resolve, 2));
  return path;
}

type Request = { readonly path: string; readonly body?: object; readonly headers?: Record<string, string> };
const data = { format: 1, name: "note" };
const messages = [{ role: "user", content: "Hi" }];
const json = { accept: "application/json" };
const ticket = { type: "ticket.created" };
const listTasks = { jsonrpc: "2.0", id: 1, method: "ListTasks" };

/** One valid request per route. */
const uiChat = { id: "chat", messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }] };
const agUi = { threadId: "thread", runId: "one", messages };
const requests: Readonly<Record<string, () => Request | Promise<Request>>> = {
  "GET /api/datasets": async () => {
    await addDataset();
    return { path: "/api/datasets" };
  },
  "GET /api/memories": async () => {
    await addMemory();
    return { path: "/api/memories" };
  },
  "DELETE /api/memories": () => ({ path: "/api/memories" }),
  "GET /api/memories/{scope}": async () => ({ path: await addMemory() }),
  "PUT /api/memories/{scope}": () => ({
    ...{ path: "/api/memories/user", body: { path: "/memories/new.md", text: "Tea", version: 0 } },
  }),
  "DELETE /api/memories/{scope}": async () => ({ path: await addMemory() }),
  "GET /api/datasets/{name}": async () => ({ path: await addDataset() }),
  "PUT /api/datasets/{name}": () => ({ path: "/api/datasets/d", body: { description: "Cases" } }),
  "DELETE /api/datasets/{name}": async () => ({ path: await addDataset() }),
  "POST /api/datasets/{name}/import": async () => ({
    ...{ path: `${await addDataset()}/import`, body: { format: "csv", text: "input\nHi\n" } },
  }),
  "POST /api/datasets/{name}/cases": async () => ({
    path: `${await addDataset()}/cases`,
    body: { runId: (await run("pay", "waiting")).runId, expected: "Paid.", tags: ["a"] },
  }),
  "PUT /api/datasets/{name}/cases/{caseId}": async () => ({
    ...{ path: `${await addDataset()}/cases/x`, body: { input: "Hi", notes: "n" } },
  }),
  "DELETE /api/datasets/{name}/cases/{caseId}": async () => ({ path: `${await addDataset()}/cases/c` }),
  "GET /api/experiments": async () => {
    await addExperiment();
    return { path: "/api/experiments?dataset=d" };
  },
  "POST /api/experiments": async () => {
    await addDataset();
    return { path: "/api/experiments", body: experiment };
  },
  "GET /api/experiments/{experimentId}": async () => ({ path: await addExperiment() }),
  "DELETE /api/experiments/{experimentId}": async () => ({ path: await addExperiment() }),
  "POST /api/experiments/{experimentId}/cancel": async () => ({
    path: `${await addExperiment("hang", "running")}/cancel`,
  }),
  "POST /api/experiments/{experimentId}/resume": async () => {
    const path = await addExperiment("hang", "running");
    await server.send("POST", `${path}/cancel`);
    return { path: `${path}/resume` };
  },
  "POST /api/experiments/{experimentId}/reviews": async () => ({
    path: `${await addExperiment()}/reviews`,
    body: { caseId: "c", attempt: 1, passed: true },
  }),
  "GET /api/experiments/{experimentId}/comparison/{otherId}": async () => {
    const [before, after] = [await addExperiment(), await addExperiment()];
    return { path: `${after}/comparison/${before.split("/").at(-1)}` };
  },
  "GET /openapi.json": () => ({ path: "/openapi.json" }),
  "GET /api/health": () => ({ path: "/api/health" }),
  "GET /healthz": () => ({ path: "/healthz" }),
  "GET /readyz": () => ({ path: "/readyz" }),
  "GET /metrics": () => ({ path: "/metrics" }),
  "GET /api/about": () => ({ path: "/api/about" }),
  "GET /api/models": () => ({ path: "/api/models" }),
  "GET /api/agent-parts": () => ({ path: "/api/agent-parts" }),
  "GET /api/mcp-servers": () => ({ path: "/api/mcp-servers" }),
  "POST /api/mcp-servers/refresh": () => ({ path: "/api/mcp-servers/refresh" }),
  "GET /api/mcp-settings": () => ({ path: "/api/mcp-settings" }),
  "GET /mcp-callback": () => ({ path: "/mcp-callback?code=none&state=none" }),
  "GET /api/runs/{runId}/turns/{turn}": async () => ({
    path: `/api/runs/${(await run("pay", "waiting")).runId}/turns/1?wire=anthropic`,
  }),
  "GET /api/runs/{runId}/requests/{turn}": async () => ({
    path: `/api/runs/${(await run("Hi", "ended")).runId}/requests/1`,
  }),
  "POST /api/runs/{runId}/requests/{turn}/try": async () => ({
    path: `/api/runs/${(await run("Hi", "ended")).runId}/requests/1/try`,
    body: {},
  }),
  "GET /api/runs/{runId}/messages": async () => ({
    path: `/api/runs/${(await run("pay", "waiting")).runId}/messages?wire=gemini`,
  }),
  "POST /api/runs/{runId}/rerun": async () => ({
    path: `/api/runs/${(await run("Hi", "ended")).runId}/rerun`,
    body: { policy: { maxTurns: 3 } },
  }),
  "GET /api/runs/{runId}/difference/{otherRunId}": async () => ({
    path: `/api/runs/${(await run("Hi", "ended")).runId}/difference/${(await run("pay", "waiting")).runId}`,
  }),
  "POST /api/sign-in": () => ({ path: "/api/sign-in", body: { code: server.oneTimeCode() } }),
  "POST /api/sign-out": () => ({ path: "/api/sign-out" }),
  "GET /api/usage": () => ({ path: "/api/usage" }),
  "GET /api/admin/users": async () => {
    await server.send("PUT", "/api/admin/quotas", {
      user: "",
      quotas: { tokens: { day: 1e6 }, storage: 1e9 },
    });
    return { path: "/api/admin/users" };
  },
  "PUT /api/admin/quotas": () => ({ path: "/api/admin/quotas", body: { quotas: { runs: { day: 100 } } } }),
  "GET /api/admin/keys": async () => {
    await server.keys.create({ user: "ada", quotas: { streams: 3 } });
    return { path: "/api/admin/keys", headers: await createAdminHeaders() };
  },
  "POST /api/admin/keys": () => ({ path: "/api/admin/keys", body: { user: "ada", quotas: { sessions: 5 } } }),
  "DELETE /api/admin/keys/{id}": async () => ({
    path: `/api/admin/keys/${(await server.keys.create({ user: "ada" })).id}`,
    headers: await createAdminHeaders(),
  }),
  "GET /api/admin/sessions": async () => {
    await run("Hi", "ended");
    return { path: "/api/admin/sessions?limit=5" };
  },
  "DELETE /api/admin/sessions/{id}": async () => ({
    path: `/api/admin/sessions/${(await run("Hi", "ended")).sessionId}`,
  }),
  "GET /api/admin/runs": async () => {
    await run("pay", "waiting");
    return { path: "/api/admin/runs" };
  },
  "POST /api/admin/runs/{id}/cancel": async () => ({
    path: `/api/admin/runs/${(await run("pay", "waiting")).runId}/cancel`,
  }),
  "POST /api/admin/runs/{id}/retry": async () => ({
    path: `/api/admin/runs/${(await run("fail", "ended")).runId}/retry`,
  }),
  "GET /api/admin/drain": () => ({ path: "/api/admin/drain" }),
  "PUT /api/admin/drain": () => ({ path: "/api/admin/drain", body: { isDraining: true } }),
  "GET /api/agents": () => ({ path: "/api/agents" }),
  "GET /api/agents/{name}": () => ({ path: "/api/agents/helper" }),
  "PUT /api/agents/{name}": () => ({ path: "/api/agents/note", body: { data, expectedVersion: 0 } }),
  "GET /api/agents/{name}/versions": () => ({ path: "/api/agents/helper/versions" }),
  "POST /api/agents/{name}/restore": async () => {
    await server.send("PUT", "/api/agents/note", { data, expectedVersion: 0 });
    return { path: "/api/agents/note/restore", body: { version: 1, expectedVersion: 1 } };
  },
  "DELETE /api/agents/{name}": async () => {
    await server.send("PUT", "/api/agents/note", { data, expectedVersion: 0 });
    return { path: "/api/agents/note?expectedVersion=1" };
  },
  "GET /api/data": async () => {
    await addData();
    return { path: "/api/data" };
  },
  "POST /api/data": () => ({ path: "/api/data", body: { app: "texts", title: "Notes" } }),
  "POST /api/data/{dataId}/load": async () => ({ path: `${await addData()}/load` }),
  "PUT /api/data/{dataId}/files/{path}": async () => ({ path: `${await addData()}/files/b/c.txt` }),
  "GET /api/data/{dataId}/files/{path}": async () => ({ path: `${await addData()}/files/a.txt` }),
  "DELETE /api/data/{dataId}": async () => ({ path: await addData() }),
  "GET /api/schedules": async () => {
    await addSchedule();
    return { path: "/api/schedules" };
  },
  "POST /api/schedules": () => ({ path: "/api/schedules", body: newSchedule }),
  "GET /api/schedules/{scheduleId}": async () => ({ path: await addSchedule() }),
  "POST /api/schedules/{scheduleId}/pause": async () => ({ path: `${await addSchedule()}/pause` }),
  "POST /api/schedules/{scheduleId}/resume": async () => ({ path: `${await addSchedule()}/resume` }),
  "POST /api/schedules/{scheduleId}/run": async () => ({ path: `${await addSchedule()}/run` }),
  "DELETE /api/schedules/{scheduleId}": async () => ({ path: await addSchedule() }),
  "GET /api/sessions": async () => {
    await run("Hello", "ended");
    return { path: "/api/sessions" };
  },
  "POST /api/sessions": () => ({ path: "/api/sessions", body: { title: "Plans" } }),
  "GET /api/sessions/{sessionId}": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}`,
  }),
  "PATCH /api/sessions/{sessionId}": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}`,
    body: { title: "Plans" },
  }),
  "DELETE /api/sessions/{sessionId}": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}`,
  }),
  "GET /api/sessions/{sessionId}/approval-rules": async () => ({
    path: `/api/sessions/${await allowAlways()}/approval-rules`,
  }),
  "DELETE /api/sessions/{sessionId}/approval-rules/{ruleId}": async () => {
    const path = `/api/sessions/${await allowAlways()}/approval-rules`;
    const { rules } = await (await server.send("GET", path)).json();
    return { path: `${path}/${rules[0].id}` };
  },
  "POST /api/sessions/{sessionId}/compact": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}/compact`,
  }),
  "POST /api/sessions/{sessionId}/fork": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}/fork`,
    body: { at: 1 },
  }),
  "GET /api/sessions/{sessionId}/export": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}/export`,
  }),
  "GET /api/sessions/{sessionId}/blobs/{handle}": async () => {
    const { sessionId } = await run("Hi", "ended");
    const handle = await store.putBlob(sessionId, { mediaType: "text/plain", data: "all of it" });
    return { path: `/api/sessions/${sessionId}/blobs/${handle}` };
  },
  "GET /api/sessions/{sessionId}/facts": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}/facts?limit=2`,
  }),
  "GET /api/sessions/{sessionId}/events": async () => ({
    path: `/api/sessions/${(await run("Hi", "ended")).sessionId}/events`,
    headers: json,
  }),
  "POST /api/runs": () => ({ path: "/api/runs", body: { input: "Hi" } }),
  "GET /api/runs": async () => {
    await run("Hi", "ended");
    return { path: "/api/runs" };
  },
  "GET /api/runs/stats": async () => {
    await run("Hi", "ended");
    return { path: "/api/runs/stats" };
  },
  "POST /api/runs/{runId}/feedback": async () => ({
    path: `/api/runs/${(await run("Hi", "ended")).runId}/feedback`,
    body: { rating: "up", note: "Good" },
  }),
  "GET /api/runs/{runId}": async () => ({ path: `/api/runs/${(await run("pay", "waiting")).runId}` }),
  "GET /api/runs/{runId}/events": async () => ({
    path: `/api/runs/${(await run("Hi", "ended")).runId}/events`,
    headers: json,
  }),
  "POST /api/runs/{runId}/cancel": async () => ({
    path: `/api/runs/${(await run("pay", "waiting")).runId}/cancel`,
    body: {},
  }),
  "POST /api/runs/{runId}/background/{callId}/cancel": async () => ({
    path: `/api/runs/${(await run("delegate", "waiting", "chief")).runId}/background/c1/cancel`,
    body: { reason: "Too late" },
  }),
  "POST /api/runs/{runId}/retry": async () => ({
    path: `/api/runs/${(await run("fail", "ended")).runId}/retry`,
    body: {},
  }),
  "POST /api/runs/{runId}/steer": async () => ({
    path: `/api/runs/${(await run("pay", "waiting")).runId}/steer`,
    body: { text: "Cheaper" },
  }),
  "POST /api/runs/{runId}/approvals/{callId}": async () => ({
    path: `/api/runs/${(await run("pay", "waiting")).runId}/approvals/c1`,
    body: { approved: true },
  }),
  "POST /api/runs/{runId}/approvals/{callId}/preview": async () => ({
    path: `/api/runs/${(await run("pay", "waiting")).runId}/approvals/c1/preview`,
    body: { input: {} },
  }),
  "POST /api/runs/{runId}/results/{callId}": async () => ({
    path: `/api/runs/${(await run("move", "waiting")).runId}/results/c1`,
    body: { value: "moved" },
  }),
  "POST /api/chat": () => ({ path: "/api/chat", body: { messages } }),
  "GET /v1/models": () => ({ path: "/v1/models" }),
  "GET /v1/models/{model}": () => ({ path: "/v1/models/helper" }),
  "POST /v1/chat/completions": () => ({
    path: "/v1/chat/completions",
    body: { model: "helper", messages },
  }),
  "POST /v1/messages": () => ({ path: "/v1/messages", body: { model: "helper", max_tokens: 100, messages } }),
  "POST /v1/responses": () => ({ path: "/v1/responses", body: { model: "helper", input: "Hi" } }),
  "GET /v1/responses/{runId}": async () => ({
    path: `/v1/responses/resp_1_${(await run("pay", "waiting")).runId}`,
  }),
  "POST /v1/responses/{runId}/cancel": async () => ({
    path: `/v1/responses/resp_1_${(await run("pay", "waiting")).runId}/cancel`,
  }),
  "POST /api/ui/chat": () => ({ path: "/api/ui/chat", body: uiChat }),
  "GET /api/ui/chat/{chatId}/stream": () => ({ path: "/api/ui/chat/none/stream" }),
  "POST /api/ui/chat/{chatId}/stop": async () => {
    await (await server.send("POST", "/api/ui/chat", uiChat)).text();
    return { path: "/api/ui/chat/chat/stop", body: {} };
  },
  "POST /ag-ui": () => ({ path: "/ag-ui", body: agUi }),
  "POST /ag-ui/{threadId}/stop": async () => {
    await (await server.send("POST", "/ag-ui", agUi)).text();
    return { path: "/ag-ui/thread/stop", body: {} };
  },
  "GET /.well-known/agent-card.json": () => ({ path: "/.well-known/agent-card.json" }),
  "GET /a2a/{name}/agent-card.json": () => ({ path: "/a2a/helper/agent-card.json" }),
  "POST /webhooks/{name}": () => ({
    path: "/webhooks/tickets",
    body: ticket,
    headers: signStandard(JSON.stringify(ticket)),
  }),
  "POST /a2a": () => ({ path: "/a2a", body: listTasks, headers: { "a2a-version": "1.0" } }),
  "POST /a2a/{name}": () => ({ path: "/a2a/helper", body: listTasks, headers: { "a2a-version": "1.0" } }),
};
/** These need a connected client, which has its own tests. `mcp-apps.test.ts` checks each route of an MCP App. */
const elsewhere = (name: string) =>
  ["GET /mcp", "DELETE /mcp", "POST /mcp", "POST /api/mcp-servers"].includes(name) ||
  mcpAppRoutes.some((route) => getRouteName(route) === name) ||
  name.includes(" /api/mcp-servers/{server}");

describe("the documented response", () => {
  it.each(
    routes.map((route) => [getRouteName(route), route] as const),
  )("matches the response of %s", async (name, route) => {
    if (elsewhere(name)) return;
    const { path, body, headers } =
      (await requests[name]?.()) ?? expect.unreachable(`No request for ${name}.`);
    const answer = await server.send(route.method, path, body, headers);
    await expectDocumented(route, answer);
  });

  it("can be wrong: an answer of another form is found", async () => {
    const { responses } = document.paths["/api/health"]?.get as { responses: Record<number, never> };
    const { schema } = Reflect.get(
      Object(Reflect.get(Object(responses[200]), "content")),
      "application/json",
    );
    expect(await findIssues(schema, { status: 7 })).not.toEqual([]);
  });
});

/** Stores a memory, and returns its address. */
async function addMemory(): Promise<string> {
  const memory = { path: "/memories/a.md", text: "Tea", version: 0 };
  await server.send("DELETE", "/api/memories");
  await server.send("PUT", "/api/memories/user", memory);
  return `/api/memories/user?path=${encodeURIComponent(memory.path)}`;
}
