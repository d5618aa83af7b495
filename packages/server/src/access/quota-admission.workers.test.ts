import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, AgentError, defineAgent, defineTool, type Store } from "capstan";
import { local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createSlowAgent } from "../testing/slow-agent.ts";
import { type ServerProcess, startServerWorker } from "../testing/start-server-worker.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
  cleanups = [];
});

/** A server that executes no runs: the quotas are its own, and the runs execute on workers. */
function serveFront(agent: Agent, store: Store, concurrentRuns: number): TestServer {
  const server = createTestServer({
    agents: [agent],
    store,
    quotas: { default: { concurrentRuns } },
    engine: (parts) => local({ ...parts, work: false }),
  });
  cleanups.push(() => server.close(0));
  return server;
}

/** What `capstan worker` creates: a server that nobody sends requests to. */
function startWorker(agent: Agent, store: Store): void {
  const server = createTestServer({ agents: [agent], store, leaseMs: 200 });
  cleanups.push(() => server.close(0));
}

const start = async (server: TestServer, body: object = {}) => {
  const response = await server.send("POST", "/api/runs", { input: "Go", ...body });
  return { status: response.status, ...(await response.json()) };
};
const startMany = async (server: TestServer, count: number, body = {}) => {
  const started = await Promise.all(Array.from({ length: count }, () => start(server, body)));
  return started.map(({ status }) => status).sort();
};
const getRun = async (server: TestServer, runId: string) =>
  (await server.send("GET", `/api/runs/${runId}`)).json();
const cancel = (server: TestServer, runId: string) => server.send("POST", `/api/runs/${runId}/cancel`, {});
const loadUsage = async (server: TestServer) => (await server.send("GET", "/api/usage")).json();
const createHangingAgent = () =>
  defineAgent({
    name: "slow",
    model: scriptedModel(() => ({ text: "…", hang: true }), { record: false }),
  });

describe("the quota of concurrent runs, with the runs on workers,", () => {
  it("is free again when a run ends on a worker (A92)", async () => {
    const [agent, store] = [createHangingAgent(), memory()];
    const front = serveFront(agent, store, 3);
    const { runId } = await start(front);
    expect(await startMany(front, 9)).toEqual([201, 201, ...Array.from({ length: 7 }, () => 429)]);
    startWorker(agent, store);
    await expect.poll(() => store.listOrphans()).toEqual([]);
    expect((await start(front)).status).toBe(429);
    await cancel(front, runId);
    await expect.poll(async () => (await loadUsage(front)).activeRuns).toBe(2);
    expect(await startMany(front, 3)).toEqual([201, 429, 429]);
  });

  it("counts a queued run that a worker starts (A92)", async () => {
    const [agent, store] = [createHangingAgent(), memory()];
    const front = serveFront(agent, store, 1);
    const { runId, sessionId } = await start(front);
    const queued = await start(front, { sessionId });
    expect(queued.status).toBe(202);
    startWorker(agent, store);
    await cancel(front, runId);
    await expect.poll(() => getRun(front, queued.runId)).toMatchObject({ state: "active" });
    await expect.poll(async () => (await loadUsage(front)).activeRuns).toBe(1);
    expect((await start(front)).status).toBe(429);
  });

  it("is free while a run waits for its user, and needed again for the answer (A92)", async () => {
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: {},
      needsApproval: true,
      execute: () => "ok",
    });
    const model = scriptedModel(({ history }) =>
      history.some(({ type }) => type === "result")
        ? { text: "…", hang: true }
        : { calls: [{ name: "pay" }] },
    );
    const [agent, store] = [defineAgent({ name: "payer", model, tools: [pay] }), memory()];
    const front = serveFront(agent, store, 1);
    startWorker(agent, store);
    const first = await start(front);
    await expect.poll(() => getRun(front, first.runId)).toMatchObject({ state: "waiting" });
    await expect.poll(async () => (await loadUsage(front)).activeRuns).toBe(0);
    const { pending } = await getRun(front, first.runId);
    const path = `/api/runs/${first.runId}/approvals/${pending[0].callId}`;
    expect((await front.send("POST", path, { approved: true })).status).toBe(202);
    expect((await start(front)).status).toBe(429);
    await cancel(front, first.runId);
    await expect.poll(async () => (await loadUsage(front)).activeRuns).toBe(0);
    expect((await start(front)).status).toBe(201);
  });

  it("is not free while a run waits for its provider, and then continues by itself (A92)", async () => {
    const outage = new AgentError("model_unreachable", "The provider is down.", { retryAfterMs: 3_600_000 });
    const model = scriptedModel(() => ({ error: outage }));
    const [agent, store] = [defineAgent({ name: "patient", model }), memory()];
    const front = serveFront(agent, store, 1);
    startWorker(agent, store);
    const { runId } = await start(front);
    await expect.poll(() => getRun(front, runId)).toMatchObject({ result: { until: expect.any(Number) } });
    expect((await start(front)).status).toBe(429);
    expect((await loadUsage(front)).activeRuns).toBe(1);
  });

  it("holds when a worker is killed: another one has its runs (A92)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-quota-workers-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "store.db");
    const store = sqlite(file, { pollMs: 50 });
    cleanups.push(() => store.close());
    const order = { store: { type: "sqlite", file }, port: 0, leaseMs: 500 } as const;
    const startProcess = async (name: string): Promise<ServerProcess> => {
      const worker = await startServerWorker({ ...order, canary: join(folder, name) });
      cleanups.push(() => worker.kill());
      return worker;
    };
    const front = serveFront(
      createSlowAgent(() => undefined),
      store,
      4,
    );
    const first = await startProcess("first");
    const end = join(folder, "end");
    const input = JSON.stringify([{ say: "one", waitFor: end }]);
    expect((await startMany(front, 10, { input })).filter((status) => status === 201)).toHaveLength(4);
    await expect.poll(() => store.listOrphans()).toEqual([]);
    await first.kill();
    expect((await start(front, { input })).status).toBe(429);
    await expect.poll(() => store.listOrphans()).toHaveLength(4);
    expect((await start(front, { input })).status).toBe(429);
    await startProcess("second");
    await expect.poll(() => store.listOrphans()).toEqual([]);
    expect((await start(front, { input })).status).toBe(429);
    writeFileSync(end, "");
    await expect.poll(async () => (await loadUsage(front)).activeRuns).toBe(0);
    expect((await start(front, { input })).status).toBe(201);
  });
});
