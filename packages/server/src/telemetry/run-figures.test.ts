import { AgentError, defineAgent, defineTool, type Store } from "capstan";
import { local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { createRunFigures } from "./run-figures.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0);
});

/** An agent whose tool waits until `finish` is called. */
function createSlowAgent() {
  const gate = Promise.withResolvers<string>();
  const wait = defineTool({
    ...{ name: "wait", description: "Waits", input: { type: "object" }, effects: "none" },
    execute: () => gate.promise,
  });
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result" ? { text: "Done." } : { calls: [{ name: "wait" }] },
  );
  const agent = defineAgent({ name: "slow", model, tools: [wait] });
  return { agent, finish: () => gate.resolve("done") };
}

function open(store: Store, agent: ReturnType<typeof createSlowAgent>["agent"], work: boolean): TestServer {
  const server = createTestServer({
    ...{ agents: [agent], store, leaseMs: 600 },
    engine: (parts) => local({ ...parts, work }),
  });
  servers.push(server);
  return server;
}

async function readMetrics(server: TestServer): Promise<Record<string, number>> {
  const text = await (await server.send("GET", "/metrics")).text();
  const samples = [...text.matchAll(/^(capstan_\S+) (\S+)$/gm)];
  return Object.fromEntries(samples.map(([, name, value]) => [name, Number(value)]));
}

async function enqueue(server: TestServer, session?: string): Promise<string> {
  const body = { input: "Go.", ...(session && { session }) };
  const accepted = await server.send("POST", "/api/runs", body, { prefer: "respond-async" });
  expect(accepted.status).toBe(202);
  return accepted.headers.get("location") ?? "";
}

describe("the metrics of several processes", () => {
  it("show runs that no worker takes, and what a worker executes", async () => {
    const store = memory();
    const { agent, finish } = createSlowAgent();
    const web = open(store, agent, false);
    const first = await enqueue(web);
    expect(await readMetrics(web)).toMatchObject({
      'capstan_runs{state="active"}': 1,
      'capstan_runs{state="waiting"}': 0,
      'capstan_runs{state="queued"}': 0,
      capstan_untaken_runs: 1,
      capstan_runs_at_work: 0,
    });
    const worker = open(store, agent, true);
    const hasEnded = async () => (await (await web.send("GET", first)).json()).state === "ended";
    finish();
    await expect.poll(hasEnded, { timeout: 30_000 }).toBe(true);
    const figures = await readMetrics(worker);
    expect(figures).toMatchObject({
      'capstan_steps_total{type="model"}': 2,
      'capstan_steps_total{type="tool"}': 1,
      capstan_segments_total: 1,
    });
    expect(figures).not.toHaveProperty("capstan_takeovers_total");
    expect(await readMetrics(web)).not.toHaveProperty("capstan_segments_total");
  });

  it("count a lease that was lost, and the takeover of a run whose process is gone", async () => {
    const store = memory();
    const { agent, finish } = createSlowAgent();
    const web = open(store, agent, false);
    const path = await enqueue(web);
    const runId = path.split("/").at(-1) ?? "";
    const worker = open(store, agent, true);
    await expect
      .poll(() => readMetrics(worker), { timeout: 30_000 })
      .toMatchObject({
        'capstan_steps_total{type="model"}': 1,
      });
    // Another process takes over the session, and stops without a release.
    const sessionId = (await store.findSession(runId)) ?? "";
    await store.lease(sessionId, "other", 50, { takeOver: true });
    await expect
      .poll(() => readMetrics(worker), { timeout: 30_000 })
      .toMatchObject({
        capstan_lost_leases_total: 1,
        capstan_takeovers_total: 1,
      });
    finish();
    const getState = async () => (await (await web.send("GET", path)).json()).state;
    await expect.poll(getState, { timeout: 30_000 }).toBe("ended");
  });
});

describe("the figures of a store", () => {
  it("are read once in 10 seconds, however often they are scraped", async () => {
    const store = memory();
    const countRuns = vi.spyOn(store, "countRuns");
    let time = 0;
    const read = createRunFigures(store, () => time);
    await Promise.all([read(), read()]);
    time = 9999;
    expect(await read()).toEqual({ active: 0, waiting: 0, untaken: 0, queued: 0 });
    expect(countRuns).toHaveBeenCalledTimes(1);
    time = 10_000;
    await read();
    expect(countRuns).toHaveBeenCalledTimes(2);
  });

  it("are left out while the store fails; the metrics of the process remain", async () => {
    const store = memory();
    store.countRuns = () => Promise.reject(new AgentError("store_failed", "No connection."));
    const server = open(store, createSlowAgent().agent, false);
    const figures = await readMetrics(server);
    expect(figures).toHaveProperty("capstan_runs_at_work");
    expect(figures).not.toHaveProperty("capstan_untaken_runs");
  });
});
