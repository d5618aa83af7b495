import { type Agent, defineAgent } from "capstan";
import { type LocalEngine, local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
let worker: LocalEngine | undefined;
afterEach(async () => {
  await server.close(0);
  await worker?.close();
});

const createAgent = (): Agent =>
  defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Done on a worker." })) });
const startRun = (headers: Record<string, string> = {}) =>
  server.send("POST", "/api/runs", { input: "Go." }, headers);
const getRun = async (runId: string) => (await server.send("GET", `/api/runs/${runId}`)).json();

describe("a server whose runs execute on workers", () => {
  it("stores the start, and any worker takes the run", async () => {
    const store = memory();
    server = createTestServer({
      agents: [createAgent()],
      store,
      engine: (parts) => local({ ...parts, work: false }),
    });
    const response = await startRun();
    expect(response.status).toBe(201);
    const { runId } = await response.json();
    expect(await getRun(runId)).toMatchObject({ state: "active" });
    expect((await store.listOrphans()).map((run) => run.runId)).toEqual([runId]);
    const events = server.send("GET", `/api/runs/${runId}/events`).then((stream) => stream.text());
    worker = local({ store, agents: createAgent(), leaseMs: 200 });
    expect(await events).toContain("Done on a worker.");
    expect(await getRun(runId)).toMatchObject({ state: "ended", result: { status: "done" } });
  });

  it("delivers approvals and cancellations through the store", async () => {
    const store = memory();
    server = createTestServer({
      agents: [createAgent()],
      store,
      engine: (parts) => local({ ...parts, work: false }),
    });
    const { runId } = await (await startRun()).json();
    await server.send("POST", `/api/runs/${runId}/cancel`, {});
    worker = local({ store, agents: createAgent(), leaseMs: 200 });
    await expect.poll(() => getRun(runId)).toMatchObject({ result: { status: "cancelled" } });
  });
});

describe("a request with `Prefer: respond-async`", () => {
  it("is accepted with the URL of its run, also when the process has no capacity", async () => {
    const store = memory();
    server = createTestServer({ agents: [createAgent()], store, maxRuns: 0 });
    expect((await startRun()).status).toBe(503);
    const response = await startRun({ prefer: "wait=5, respond-async" });
    expect(response.status).toBe(202);
    expect(response.headers.get("preference-applied")).toBe("respond-async");
    const { runId } = await response.json();
    expect(response.headers.get("location")).toBe(`/api/runs/${runId}`);
    expect(await getRun(runId)).toMatchObject({ state: "active" });
    worker = local({ store, agents: createAgent(), leaseMs: 200 });
    await expect.poll(() => getRun(runId)).toMatchObject({ state: "ended", result: { status: "done" } });
  });

  it("names the same run when it is repeated", async () => {
    server = createTestServer({ agents: [createAgent()] });
    const send = () => startRun({ prefer: "respond-async", "idempotency-key": "one" });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(await second.json()).toEqual(await first.json());
  });
});
