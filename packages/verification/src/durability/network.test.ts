import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CuttingProxy, createCuttingProxy } from "../postgres/cutting-proxy.ts";
import { findPostgresFolder, type PostgresServer, startPostgres } from "../postgres/start-postgres.ts";
import type { PlannedCalls } from "./crash-agent.ts";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";
import type { WorkerProcess } from "./start-worker.ts";

const leaseMs = 1_000;
const runIds = ["r0", "r1", "r2", "r3"];

describe.skipIf(!findPostgresFolder())("workers on Postgres", () => {
  let server: PostgresServer;
  let proxy: CuttingProxy;
  let harness: CrashHarness;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres({ durable: true });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    proxy = await createCuttingProxy(server.port);
    harness = openCrashHarness(leaseMs, {
      type: "postgres",
      url: server.url,
      schema: `network_${++schemas}`,
    });
  });
  afterEach(async () => {
    proxy.heal();
    await harness.close();
    await proxy.close();
  });

  /** A worker that reaches Postgres through the proxy, with runs in the middle of a long call. */
  async function startBehindProxy(plan: PlannedCalls): Promise<WorkerProcess> {
    const url = new URL(server.url);
    url.port = `${proxy.port}`;
    const worker = await harness.startWorker({
      store: { type: "postgres", url: url.href, schema: `network_${schemas}` },
      longMs: 600_000,
    });
    for (const runId of runIds) worker.start({ runId, plan });
    await expect.poll(() => harness.getTrace("begin").length).toBe(runIds.length);
    return worker;
  }

  it("one that is cut off loses its runs to another and does nothing twice; when the network heals, it works again (F74, F75)", async () => {
    const first = await startBehindProxy([["long_pay"], ["look"]]);
    proxy.hold();
    const second = await harness.startWorker();
    const stored = await Promise.all(runIds.map((runId) => harness.waitForFact(runId, "done")));
    for (const facts of stored) expect(facts.at(-1)).toMatchObject({ text: "Calls: interrupted ok" });
    proxy.heal();
    for (const runId of runIds)
      expect(await first.waitForReport("refused", runId)).toMatchObject({ code: "lease_lost" });
    await expect.poll(() => harness.getTrace("aborted").length).toBe(runIds.length);
    expect(harness.getTrace("effect").filter((line) => "tool" in line && line.tool === "long_pay")).toEqual(
      [],
    );
    expect(await Promise.all(runIds.map((runId) => harness.store.read(runId)))).toEqual(stored);
    second.signal("SIGKILL");
    await second.ended;
    first.start({ runId: "next", plan: [["look"], ["pay"]] });
    expect(await first.waitForReport("rested", "next")).toMatchObject({ text: "Calls: ok ok" });
    expect(await harness.check()).toMatchObject({ problems: [], repeated: 0, interrupted: runIds.length });
  });

  it("execute their runs to the end when the server restarts in the middle (F72)", async () => {
    const workers = await Promise.all([harness.startWorker(), harness.startWorker()]);
    const ids = Array.from({ length: 20 }, (_, number) => `r${number}`);
    const turn = ["slow_look", "slow_charge", "slow_pay"] as const;
    for (const [index, runId] of ids.entries())
      workers[index % 2]?.start({ runId, plan: [turn, turn, turn, turn] });
    for (const [index, runId] of ids.entries()) await workers[index % 2]?.waitForReport("stored", runId);
    await harness.waitForTrace("end");
    await server.crash();
    await server.restart();
    for (const runId of ids) await harness.waitForFact(runId, "done");
    expect(workers.every((worker) => worker.isReady())).toBe(true);
    expect(await harness.check()).toMatchObject({ problems: [], runs: ids.length });
  });
});
