import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { AgentError } from "../base/errors.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { postgres } from "../stores/postgres/postgres.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { local } from "./local.ts";

const start = Date.UTC(2026, 0, 1, 8);
const dueAt = start + 1_000;
const runId = `run_sch_1_${dueAt}`;
const agent = defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Done." })) });
const writes: readonly (keyof Store)[] = ["putRecord", "append", "lease", "create", "release", "putSnapshot"];

/** A store whose process is killed after a number of writes: nothing more reaches the store, and nothing comes back. */
function killAfter(store: Store, count: number): { readonly killed: Store; isDead(): boolean } {
  let left = count;
  const killed = { ...store } as Record<string, unknown>;
  for (const [name, method] of Object.entries(store)) {
    if (typeof method !== "function" || name === "watch" || name === "watchWork" || name === "publish")
      continue;
    killed[name] = async (...given: unknown[]) => {
      if (left <= 0) throw new AgentError("store_failed", "The process is gone.");
      const isWrite = writes.includes(name as keyof Store);
      if (isWrite) left -= 1;
      const value = await Reflect.apply(method, store, given);
      if (isWrite && left <= 0) throw new AgentError("store_failed", "The process is gone.");
      return value;
    };
  }
  return { killed: killed as unknown as Store, isDead: () => left <= 0 };
}

/** Lets a schedule start its run in a process that is killed after so many writes. True if it was not. */
async function startAndKill(store: Store, count: number): Promise<boolean> {
  const clock = fakeClock({ start });
  const options = { agents: agent, clock, leaseMs: 400 };
  const author = local({ ...options, store, startSchedules: false });
  await author.schedule({ agent, input: "Once", at: dueAt, id: "sch_1", session: "s" });
  const { killed, isDead } = killAfter(store, count);
  const first = local({ ...options, store: killed });
  const isOver = async () => (await author.schedules.get("sch_1")).state === "ended";
  const isEnded = async () => (await store.findRun(runId))?.state === "ended";
  // Again and again: a look that is in progress does not see what becomes due.
  await vi.waitFor(
    async () => {
      await clock.advance(1_000);
      expect(isDead() || ((await isOver()) && (await isEnded()))).toBe(true);
    },
    { timeout: 30_000 },
  );
  const hasSurvived = !isDead();
  await first.close().catch(() => undefined);
  clock.step(40_000); // its claim expires
  const second = local({ ...options, store });
  await vi.waitFor(
    async () => {
      await clock.advance(1_000);
      await second.recover();
      expect([await isOver(), await isEnded()]).toEqual([true, true]);
    },
    { timeout: 30_000 },
  );
  expect((await store.listRuns("s")).map((run) => run.runId)).toEqual([runId]);
  expect((await second.schedules.get("sch_1")).runs).toMatchObject([{ runId, dueAt }]);
  expect((await second.getResult(runId)).text).toBe("Done.");
  const starts = (await store.read("s")).filter(({ type }) => type === "run_start");
  expect(starts).toHaveLength(1);
  await second.close();
  await author.close();
  return hasSurvived;
}

/** Kills after the first write, after the second, and so on, until a process finishes before it is killed. */
async function killAfterEveryWrite(createStore: (count: number) => Store): Promise<number> {
  for (let count = 1; ; count++) {
    const store = createStore(count);
    const hasSurvived = await startAndKill(store, count);
    await store.close();
    if (hasSurvived) return count;
  }
}

const title = "a schedule whose process is killed after any write starts its run once (F70, F74)";

it(`in memory: ${title}`, async () => {
  expect(await killAfterEveryWrite(() => memory())).toBeGreaterThan(5);
}, 120_000);

it(`on SQLite: ${title}`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-schedules-"));
  expect(await killAfterEveryWrite((count) => sqlite(join(folder, `${count}.db`)))).toBeGreaterThan(5);
  rmSync(folder, { recursive: true });
}, 120_000);

describe.skipIf(!findPostgresFolder())("on Postgres", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
  }, 120_000);
  afterAll(() => server?.stop());

  it(title, async () => {
    expect(await killAfterEveryWrite((count) => postgres(pool, { schema: `kill_${count}` }))).toBeGreaterThan(
      5,
    );
  }, 120_000);
});
