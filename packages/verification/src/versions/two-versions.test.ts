import { join } from "node:path";
import { local } from "capstan/engines/local";
import { factVersion } from "capstan/internal/verification";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCrashAgent } from "../durability/crash-agent.ts";
import { type CrashHarness, openCrashHarness } from "../durability/crash-harness.ts";
import type { WorkerProcess } from "../durability/start-worker.ts";
import { findPostgresFolder, type PostgresServer, startPostgres } from "../postgres/start-postgres.ts";

const leaseMs = 300;
const nextVersion = { preload: join(import.meta.dirname, "next-version.ts"), snapshotEvery: 1 };
const newerVersion = factVersion + 1;

let server: PostgresServer | undefined;
beforeAll(async () => {
  if (findPostgresFolder()) server = await startPostgres();
});
afterAll(() => server?.stop());

const stores = ["sqlite", ...(findPostgresFolder() ? ["postgres"] : [])];

describe.each(stores)("two versions on one %s store", (name) => {
  let harness: CrashHarness;
  let schemas = 0;
  beforeEach(() => {
    schemas += 1;
    const schema = `versions_${schemas}`;
    const isPostgres = name === "postgres" && server;
    harness = openCrashHarness(
      leaseMs,
      isPostgres ? { type: "postgres", url: server?.url ?? "", schema } : undefined,
    );
  });
  afterEach(() => harness.close());

  const findRun = async (runId: string) => (await harness.store.findRun(runId)) ?? {};
  const waitForEnd = (runId: string) =>
    expect.poll(() => findRun(runId)).toMatchObject({ state: "ended", newerVersion });

  /** Starts a run that waits for an approval. */
  async function startWaiting(worker: WorkerProcess, runId: string): Promise<void> {
    worker.start({ runId, plan: [["look"], ["sign"]] });
    expect(await worker.waitForReport("rested", runId)).toMatchObject({ status: "waiting" });
  }

  /** Starts a run and kills its process during a call. */
  async function killDuringCall(worker: WorkerProcess, runId: string): Promise<void> {
    const before = harness.getTrace("begin").length;
    worker.start({ runId, plan: [["long_look"]] });
    await expect.poll(() => harness.getTrace("begin").length).toBeGreaterThan(before);
    worker.signal("SIGKILL");
    await worker.ended;
  }

  const approve = (runId: string) =>
    harness.store.sendMessage(runId, { key: "yes", type: "approve", callId: "call_2_0" });

  it("runs of the older version are continued by the newer one (F78)", async () => {
    const older = await harness.startWorker({ longMs: 600_000 });
    await startWaiting(older, "waiting");
    const newer = await harness.startWorker(nextVersion);
    // The newer process has changed the database; the older one goes on.
    await startWaiting(older, "later");
    await killDuringCall(older, "killed");
    await approve("waiting");
    await approve("later");
    for (const runId of ["waiting", "later", "killed"]) await waitForEnd(runId);
    expect(newer.isReady()).toBe(true);
  });

  it("runs of the newer version are listed, reported and left alone by the older one (F78)", async () => {
    const newer = await harness.startWorker({ ...nextVersion, longMs: 600_000 });
    await startWaiting(newer, "waiting");
    await killDuringCall(newer, "killed");
    const orphan = { runId: "killed", state: "active", newerVersion };
    await expect.poll(() => harness.store.listOrphans()).toMatchObject([orphan]);
    const before = [await findRun("waiting"), await findRun("killed")];

    const older = await harness.startWorker();
    older.start({ runId: "own", plan: Array.from({ length: 8 }, () => ["slow_look"] as const) });
    expect(await older.waitForReport("rested", "own")).toMatchObject({ status: "done" });
    expect([await findRun("waiting"), await findRun("killed")]).toEqual(before);
    expect((await harness.store.list()).map(({ id }) => id).sort()).toEqual(["killed", "own", "waiting"]);
    await expect(harness.store.read("waiting")).rejects.toMatchObject({ code: "newer_version" });

    const agent = createCrashAgent({
      trace: { write: () => undefined, close: () => undefined },
      reach: () => undefined,
    });
    const engine = local({ store: harness.store, agents: agent });
    expect((await engine.listStuck()).map(({ runId, reason }) => `${runId}: ${reason.code}`).sort()).toEqual([
      "killed: newer_version",
      "waiting: newer_version",
    ]);
    const message = { type: "approve", callId: "call_2_0", key: "k" } as const;
    await expect(engine.send("waiting", message)).rejects.toMatchObject({ code: "newer_version" });
    await expect(engine.open("waiting")).rejects.toMatchObject({ code: "newer_version" });
    const inItsSession = engine.run(agent, "[]", { session: "waiting" });
    await expect(inItsSession).rejects.toMatchObject({ code: "newer_version" });
    await engine.close();

    await harness.startWorker(nextVersion);
    await approve("waiting");
    for (const runId of ["waiting", "killed"]) await waitForEnd(runId);
  });
});
