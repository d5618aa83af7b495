import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { adminRoutes } from "./admin.ts";

const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: {},
  needsApproval: true,
  execute: () => "ok",
});
const createHelper = (name = "helper") =>
  defineAgent({
    name,
    tools: [pay],
    model: scriptedModel(({ history }) => {
      const [first] = history;
      const isPayment = first?.type === "user" && first.content === "pay";
      return isPayment && history.length === 1 ? { calls: [{ name: "pay" }] } : { text: "Hello." };
    }),
  });

let server: TestServer;
let asAdmin: Record<string, string>;
let asAda: Record<string, string>;

beforeEach(async () => {
  server = createTestServer({ agents: [createHelper()], quotas: { default: { runs: { day: 50 } } } });
  const authorize = async (user: string, isAdmin: boolean) => ({
    authorization: `Bearer ${(await server.keys.create({ user, isAdmin })).secret}`,
  });
  [asAdmin, asAda] = [await authorize("root", true), await authorize("ada", false)];
});
afterEach(() => server.close(0));

async function call(method: string, path: string, body?: unknown, headers = asAdmin) {
  const response = await server.send(method, path, body, headers);
  return { status: response.status, body: response.status === 204 ? undefined : await response.json() };
}

/** Starts a run of ada and resolves when it has ended or waits. */
async function runAsAda(input: string): Promise<{ runId: string; sessionId: string }> {
  const { body } = await call("POST", "/api/runs", { input }, asAda);
  const isOver = async () =>
    (await call("GET", `/api/runs/${body.runId}`, undefined, asAda)).body.state !== "active";
  await expect.poll(isOver).toBe(true);
  return body;
}

it.each(
  adminRoutes.map(({ method, path }) => [method, path]),
)("%s %s is forbidden for users and needs a key (A94)", async (method, path) => {
  const place = path.replace("{id}", "x");
  const body = method === "GET" || method === "DELETE" ? undefined : {};
  expect((await call(method, place, body, asAda)).body.error.code).toBe("forbidden");
  expect((await call(method, place, body, {})).status).toBe(401);
});

it("no other page can send requests of an admin", async () => {
  const other = { ...asAdmin, origin: "https://other.example", "sec-fetch-site": "cross-site" };
  expect((await call("PUT", "/api/admin/drain", { isDraining: true }, other)).status).toBe(403);
  expect((await call("GET", "/api/admin/drain")).body.isDraining).toBe(false);
});

describe("an admin", () => {
  it("sees every user with quotas and usage, and changes quotas at once", async () => {
    await runAsAda("Hello");
    await expect
      .poll(async () => (await call("GET", "/api/admin/users")).body.users)
      .toMatchObject([
        { user: "", isAdmin: true, keys: 0 },
        {
          user: "ada",
          isAdmin: false,
          keys: 1,
          quotas: { runs: { day: 50 } },
          windows: { day: { runs: 1, tokens: 15 } },
        },
        { user: "root", isAdmin: true, keys: 1, ownQuotas: {} },
      ]);
    await call("PUT", "/api/admin/quotas", { user: "ada", quotas: { runs: { day: 1 } } });
    expect((await call("POST", "/api/runs", { input: "Hello" }, asAda)).body.error.quota).toMatchObject({
      limit: 1,
    });
    expect((await call("GET", "/api/usage", undefined, asAda)).body).toMatchObject({
      quotas: { runs: { day: 1 } },
    });
    await call("PUT", "/api/admin/quotas", { user: "ada", quotas: {} });
    expect((await call("POST", "/api/runs", { input: "Hello" }, asAda)).status).toBe(201);
  });

  it("sets the quotas of all users, and gets a message for what is none", async () => {
    await call("PUT", "/api/admin/quotas", { quotas: { runs: { day: 0 } } });
    expect((await call("POST", "/api/runs", { input: "Hello" }, asAda)).status).toBe(429);
    for (const quotas of [{ runs: 5 }, { runs: { week: 5 } }, { token: { day: 5 } }, { storage: -1 }])
      expect((await call("PUT", "/api/admin/quotas", { quotas })).status).toBe(400);
  });

  it("creates a key that works, sees no secret again, and revokes it", async () => {
    const { status, body } = await call("POST", "/api/admin/keys", { user: "bob", quotas: { sessions: 0 } });
    expect([status, body.user]).toEqual([201, "bob"]);
    const asBob = { authorization: `Bearer ${body.secret}` };
    expect((await call("GET", "/api/usage", undefined, asBob)).body).toMatchObject({ user: "bob" });
    expect((await call("POST", "/api/sessions", {}, asBob)).body.error.quota.name).toBe("sessions");
    const listed = (await call("GET", "/api/admin/keys")).body;
    expect(JSON.stringify(listed)).not.toContain(body.secret.slice(-20));
    expect((await call("DELETE", `/api/admin/keys/${body.id}`)).status).toBe(204);
    expect((await call("GET", "/api/usage", undefined, asBob)).status).toBe(401);
    expect((await call("DELETE", "/api/admin/keys/none")).status).toBe(404);
  });

  it("sees the largest sessions without their titles, and deletes one", async () => {
    const { sessionId } = await runAsAda("x".repeat(5000));
    await runAsAda("Hello");
    await call("PATCH", `/api/sessions/${sessionId}`, { title: "Private" }, asAda);
    const { body } = await call("GET", "/api/admin/sessions");
    expect(body.sessions).toMatchObject([{ id: sessionId, user: "ada" }, { user: "ada" }]);
    expect(body.sessions[0].bytes).toBeGreaterThan(5000);
    expect(JSON.stringify(body)).not.toContain("Private");
    expect((await call("DELETE", `/api/admin/sessions/${encodeURIComponent(sessionId)}`)).status).toBe(204);
    expect((await call("GET", "/api/admin/sessions")).body.sessions).toHaveLength(1);
    expect((await call("DELETE", "/api/admin/sessions/none")).status).toBe(404);
  });

  it("sees waiting runs and cancels one", async () => {
    const { runId } = await runAsAda("pay");
    const waiting = { runId, user: "ada", agent: "helper", state: "waiting" };
    await expect.poll(async () => (await call("GET", "/api/admin/runs")).body.runs).toMatchObject([waiting]);
    expect((await call("POST", `/api/admin/runs/${runId}/retry`)).status).toBe(409);
    expect((await call("POST", `/api/admin/runs/${runId}/cancel`)).status).toBe(204);
    await expect.poll(async () => (await call("GET", "/api/admin/runs")).body.runs).toEqual([]);
    expect((await call("POST", "/api/admin/runs/none/cancel")).status).toBe(404);
  });

  it("stops new work while active runs continue, and undoes that", async () => {
    expect((await call("PUT", "/api/admin/drain", { isDraining: true })).body).toEqual({
      isDraining: true,
      runs: [],
    });
    const refused = await server.send("POST", "/api/runs", { input: "Hello" }, asAda);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await call("GET", "/api/health", undefined, {})).status).toBe(503);
    await call("PUT", "/api/admin/drain", { isDraining: false });
    expect((await call("POST", "/api/runs", { input: "Hello" }, asAda)).status).toBe(201);
  });
});

it("the stuck runs of a server without their agent are listed with the reason", async () => {
  const store = memory();
  const first = createTestServer({ agents: [createHelper("gone")], store });
  const { runId } = await (await first.send("POST", "/api/runs", { input: "pay" })).json();
  await expect
    .poll(async () => (await (await first.send("GET", `/api/runs/${runId}`)).json()).state)
    .toBe("waiting");
  await first.close();
  const second = createTestServer({ agents: [createHelper()], store });
  const { runs } = await (await second.send("GET", "/api/admin/runs")).json();
  expect(runs).toMatchObject([{ runId, state: "stuck", user: "", reason: expect.stringContaining("gone") }]);
  await second.close(0);
});
