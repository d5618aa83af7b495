import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { addToWindows, createUsageLedger } from "../access/usage-ledger.ts";
import type { ServerOptions } from "../create-server.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0);
});

const chart = defineTool({ name: "chart", description: "The client shows a chart", input: {} });
const ask: Script = ({ history }) =>
  history.some(({ type }) => type === "result")
    ? { text: "…", hang: true }
    : { calls: [{ id: "c1", name: "chart", input: {} }] };

function serve(options: Partial<ServerOptions> = {}, script: Script = ask): TestServer {
  const model = scriptedModel(script);
  const server = createTestServer({
    agents: [defineAgent({ name: "ship", model, tools: [chart] })],
    ...options,
  });
  servers.push(server);
  return server;
}

const start = (server: TestServer) => server.send("POST", "/api/runs", { input: "Go" });

async function waitForState(server: TestServer, runId: string, state: string): Promise<void> {
  while ((await (await server.send("GET", `/api/runs/${runId}`)).json()).state !== state)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

async function startWaiting(server: TestServer): Promise<string> {
  const { runId } = await (await start(server)).json();
  await waitForState(server, runId, "waiting");
  return runId;
}

const answerCall = (server: TestServer, runId: string) =>
  server.send("POST", `/api/runs/${runId}/results/c1`, { value: "Seen." });

async function countActive(server: TestServer): Promise<number> {
  const text = await (await server.send("GET", "/metrics")).text();
  return Number(/^capstan_runs_at_work (\d+)$/m.exec(text)?.[1]);
}

async function waitForActive(server: TestServer, count: number): Promise<void> {
  while ((await countActive(server)) !== count) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a run that resumes after waiting", () => {
  it("counts against its user's runs; beyond the limit nothing is sent (A92)", async () => {
    const store = memory();
    const server = serve({ store, quotas: { default: { concurrentRuns: 1 } } });
    const [first, second] = [await startWaiting(server), await startWaiting(server)];
    expect((await answerCall(server, first)).status).toBe(202);
    await waitForState(server, first, "active");
    expect(await countActive(server)).toBe(1);
    const refused = await answerCall(server, second);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    expect((await refused.json()).error).toMatchObject({
      code: "quota_exceeded",
      quota: { name: "concurrentRuns" },
    });
    expect(await store.listMessages(second)).toEqual([]);
    expect((await start(server)).status).toBe(429);
    await server.send("POST", `/api/runs/${first}/cancel`, {});
    await waitForActive(server, 0);
    expect((await answerCall(server, second)).status).toBe(202);
  });

  it("releases its slot when it waits again, also when it is answered twice (A92)", async () => {
    const again: Script = (_, turn) => ({ calls: [{ id: `c${turn + 1}`, name: "chart", input: {} }] });
    const server = serve({ quotas: { default: { concurrentRuns: 1 } } }, again);
    const runId = await startWaiting(server);
    const tell = (callId: string) =>
      server.send("POST", `/api/runs/${runId}/results/${callId}`, { value: "Seen." });
    for (const callId of ["c1", "c2"]) {
      expect((await tell(callId)).status).toBe(202);
      expect((await tell(callId)).status).toBe(202);
      await waitForActive(server, 0);
      await waitForState(server, runId, "waiting");
    }
    expect((await start(server)).status).toBe(201);
  });

  it("can always be stopped (A92)", async () => {
    const server = serve({ quotas: { default: { concurrentRuns: 1 } } });
    const [first, second] = [await startWaiting(server), await startWaiting(server)];
    await answerCall(server, first);
    expect((await server.send("POST", `/api/runs/${second}/cancel`, {})).status).toBe(202);
    await waitForState(server, second, "ended");
    await waitForActive(server, 1);
  });

  it("is counted where it is taken over from a dead process (A92)", async () => {
    const store = memory();
    let isDead = false;
    const untilDeath = new Proxy(store, {
      get: (target, name) => (isDead ? () => new Promise(() => undefined) : Reflect.get(target, name)),
    });
    const first = serve({ store: untilDeath, leaseMs: 100 });
    const { runId } = await (await start(first)).json();
    await waitForState(first, runId, "waiting");
    await answerCall(first, runId);
    await waitForActive(first, 1);
    isDead = true;
    const second = serve({ store, leaseMs: 100 });
    await waitForActive(second, 1);
    await second.send("POST", `/api/runs/${runId}/cancel`, {});
    await waitForActive(second, 0);
  });

  it("gets no messages when a quota is used up, but can be cancelled (A92)", async () => {
    const store = memory();
    const server = serve({ store, quotas: { default: { tokens: { day: 1000 } } } });
    const runId = await startWaiting(server);
    await createUsageLedger(store).update("", (usage) => [addToWindows(usage, { tokens: 1000 }), undefined]);
    for (const [path, body] of [
      ["results/c1", { value: "Seen." }],
      ["steer", { text: "Go on." }],
    ] as const) {
      const refused = await server.send("POST", `/api/runs/${runId}/${path}`, body);
      expect([refused.status, (await refused.json()).error.code]).toEqual([429, "quota_exceeded"]);
    }
    expect(await store.listMessages(runId)).toEqual([]);
    expect((await server.send("POST", `/api/runs/${runId}/cancel`, {})).status).toBe(202);
    await waitForState(server, runId, "ended");
  });
});
