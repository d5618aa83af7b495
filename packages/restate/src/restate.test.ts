import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findRestateServer, type RestateServer, startRestate } from "@capstan/verification/restate";
import { AgentError, defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RestateEngine, restate } from "./restate.ts";

let server: RestateServer;
let store: Store;
let engines: RestateEngine[] = [];
let serviceCount = 0;
let service = "";
/** The calls that were executed, and what the next ones wait for. */
let executed: string[] = [];
let gate: Promise<void> | undefined;

const work = defineTool({
  name: "work",
  description: "Works.",
  effects: "send",
  input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  async execute({ n }) {
    executed.push(`work ${n}`);
    await gate;
    return "ok";
  },
});
const sign = defineTool({
  name: "sign",
  description: "Signs.",
  effects: "send",
  needsApproval: true,
  input: { type: "object", properties: {} },
  execute: () => `${executed.push("sign")}`,
});
const agent = defineAgent({
  name: "worker",
  model: scriptedModel(({ history }) => {
    const turn = history.filter(({ type }) => type === "assistant").length;
    const asked = JSON.stringify(history[0]);
    if (turn === 0) return { calls: [{ name: "work", input: { n: 1 } }] };
    if (turn === 1 && asked.includes("Sign")) return { calls: [{ name: "sign", input: {} }] };
    return { text: "Done." };
  }),
  tools: [work, sign],
});

function createEngine(url = server.ingressUrl, more: { maxSegmentMs?: number } = {}): RestateEngine {
  const engine = restate({
    ...{ store, agents: agent, service, ingress: { url }, ...more },
    ...{ leaseMs: 300, recoverEveryMs: 100, maxRetryMs: 200 },
  });
  engines.push(engine);
  return engine;
}

async function startWorker(more?: { maxSegmentMs?: number }): Promise<RestateEngine> {
  const worker = createEngine(server.ingressUrl, more);
  const { url } = await worker.listen();
  await worker.register({ adminUrl: server.adminUrl, url });
  return worker;
}

describe.skipIf(!findRestateServer())("with a real server", () => {
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    store = memory();
    executed = [];
    gate = undefined;
    serviceCount += 1;
    service = `engine-${serviceCount}`;
  });
  afterEach(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    engines = [];
  });

  it("an engine that does not listen enqueues, reads and approves; workers execute (S4-60)", async () => {
    await startWorker();
    const client = createEngine();
    const { runId, state } = await client.enqueue(agent, "Sign it.");
    expect(state).toBe("started");
    const run = client.open(runId);
    const result = await run;
    expect(result).toMatchObject({ status: "waiting", pending: [{ name: "sign" }] });
    await expect.poll(listOpenInvocations).toEqual([]);
    run.approve(result.pending[0]?.callId ?? "");
    expect(await run).toMatchObject({ status: "done", text: "Done." });
    expect(executed).toEqual(["work 1", "sign"]);
  });

  it("messages to a busy session run one after the other, in order", async () => {
    const release = Promise.withResolvers<void>();
    gate = release.promise;
    await startWorker();
    const client = createEngine();
    const first = await client.enqueue(agent, "One.", { session: "s", policy: { onBusy: "queue" } });
    const second = await client.enqueue(agent, "Two.", { session: "s", policy: { onBusy: "queue" } });
    expect(second.state).toBe("queued");
    release.resolve();
    expect(await client.open(first.runId)).toMatchObject({ status: "done" });
    await expect
      .poll(() => client.getResult(second.runId).catch(() => undefined))
      .toMatchObject({
        status: "done",
      });
    const starts = (await store.read("s")).filter(({ type }) => type === "run_start");
    expect(starts.map(({ runId }) => runId)).toEqual([first.runId, second.runId]);
  });

  it("a run that is enqueued before any worker is registered executes when one is", async () => {
    const client = createEngine();
    const { runId } = await client.enqueue(agent, "Work.");
    await startWorker();
    await expect.poll(() => client.getResult(runId)).toMatchObject({ status: "done" });
  });

  it("a run that is enqueued while Restate is down executes when it is back", async () => {
    const client = await startWorker();
    const [node] = server.nodes;
    await node?.kill();
    const { runId } = await client.enqueue(agent, "Work.");
    await node?.restart();
    await expect.poll(() => client.getResult(runId)).toMatchObject({ status: "done" });
    expect(executed).toEqual(["work 1"]);
  });

  it("a worker goes on while Restate restarts, and executes nothing twice (F73)", async () => {
    const release = Promise.withResolvers<void>();
    gate = release.promise;
    const worker = await startWorker();
    const { runId, sessionId } = await worker.enqueue(agent, "Work.");
    await expect.poll(() => executed).toEqual(["work 1"]);
    const [node] = server.nodes;
    await node?.kill();
    await node?.restart();
    await expect.poll(countAttempts).toBeGreaterThan(0);
    release.resolve();
    await expect
      .poll(() => worker.getResult(runId))
      .toMatchObject({
        status: "done",
        toolCalls: [{ name: "work", status: "ok" }],
      });
    expect(executed).toEqual(["work 1"]);
    expect((await store.read(sessionId)).filter(({ type }) => type === "recovered")).toEqual([]);
  });

  it("a segment that takes longer than allowed is aborted by Restate, and not executed twice by its worker", async () => {
    const release = Promise.withResolvers<void>();
    gate = release.promise;
    const worker = await startWorker({ maxSegmentMs: 200 });
    const { runId } = await worker.enqueue(agent, "Work.");
    await expect.poll(countAttempts).toBeGreaterThan(1);
    release.resolve();
    await expect.poll(() => worker.getResult(runId)).toMatchObject({ status: "done" });
    expect(executed).toEqual(["work 1"]);
  });

  it("a worker that closes releases its run after the current call, and another continues it (F82)", async () => {
    const release = Promise.withResolvers<void>();
    gate = release.promise;
    const first = await startWorker();
    const { runId } = await first.enqueue(agent, "Work.");
    await expect.poll(() => executed).toEqual(["work 1"]);
    const second = await startWorker();
    const closed = first.close();
    release.resolve();
    await closed;
    await expect
      .poll(() => second.getResult(runId))
      .toMatchObject({
        status: "done",
        toolCalls: [{ name: "work", status: "ok" }],
      });
    expect(executed).toEqual(["work 1"]);
    expect(() => first.run(agent, "More.")).toThrow("closed");
  });
});

it.skipIf(!findRestateServer())("the example of the guide runs", async () => {
  const example = await startRestate();
  try {
    const file = join(import.meta.dirname, "../../../docs/examples/restate.ts");
    const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
    const env = { ...process.env, RESTATE_INGRESS: example.ingressUrl, RESTATE_ADMIN: example.adminUrl };
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, file], { env });
    expect(stdout).toBe("done: Hello from a worker.\n");
  } finally {
    await example.stop();
  }
});

describe("options", () => {
  it("a wrong address, service name or host is refused with what to do", async () => {
    store = memory();
    service = "capstan";
    const create = (more: object) => () =>
      restate({ store, agents: agent, ingress: { url: "http://127.0.0.1:1" }, ...more });
    expect(create({ ingress: { url: "127.0.0.1:8080" } })).toThrow(/ingress.url.*Pass an http or https URL/);
    expect(create({ service: "a/b" })).toThrow(/service.*Use letters/);
    const engine = createEngine("http://127.0.0.1:1");
    await expect(engine.listen({ host: "0.0.0.0" })).rejects.toThrow(/identityKeys/);
    const registering = engine.register({ adminUrl: "http://127.0.0.1:1", url: "http://127.0.0.1:2" });
    await expect(registering).rejects.toBeInstanceOf(AgentError);
    await expect(registering).rejects.toMatchObject({ code: "server_unreachable", retryable: true });
    await engine.close();
    engines = [];
  });
});

/** Invocations that Restate has not completed. */
function listOpenInvocations(): Promise<readonly unknown[]> {
  return server.query(
    `SELECT id FROM sys_invocation WHERE target_service_name = '${service}' AND status <> 'completed'`,
  );
}

/** The attempts of the running invocation since the last restart of the server. */
async function countAttempts(): Promise<number> {
  const sql = `SELECT retry_count FROM sys_invocation WHERE target_service_name = '${service}' AND status = 'running'`;
  const rows = await server.query(sql).catch(() => []); // the server may not have opened its tables
  return Number(rows[0]?.retry_count ?? 0);
}
