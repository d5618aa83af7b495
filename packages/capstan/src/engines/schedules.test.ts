import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { type Fact, isFact } from "../kernel/event.ts";
import type { Store } from "../runtime/store.ts";
import type { ScheduleOptions } from "../schedules/schedule.ts";
import { memory } from "../stores/memory.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, type LocalOptions, local } from "./local.ts";
import { createScheduledEngine } from "./scheduled.ts";

const engines = new Set<LocalEngine>();
afterEach(async () => {
  await Promise.all([...engines].map((engine) => engine.close()));
  engines.clear();
});

const start = Date.UTC(2026, 0, 1, 8);
const iso = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());

function createWorker(
  options: Partial<LocalOptions> & { readonly store?: Store; readonly clock?: FakeClock } = {},
): { engine: LocalEngine; store: Store; clock: FakeClock; agent: Agent } {
  const agent = defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Done." })) });
  const { clock = fakeClock({ start }), store = memory({ clock }) } = options;
  const engine = local({ agents: agent, store, clock, ...options });
  engines.add(engine);
  return { engine, store, clock, agent };
}

/** Lets time pass in steps, so that what each poll starts is stored before the next. */
async function advance(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await clock.advance(Math.min(1000, ms - passed));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The runs of all sessions, with the first text of each. */
async function listStarted(store: Store): Promise<readonly string[]> {
  const { runs } = await store.queryRuns({});
  return runs.map(({ runId }) => runId).sort();
}

async function loadStart(store: Store, runId: string): Promise<Fact & { type: "run_start" }> {
  const run = await store.findRun(runId);
  const [fact] = await store.read(run?.sessionId ?? "", (run?.firstSeq ?? 1) - 1, 1);
  if (fact?.type !== "run_start" || !isFact(fact)) throw new Error(`${runId} has no start`);
  return fact;
}

describe("a schedule", () => {
  it("starts one run at its time, in a session of its own, and ends", async () => {
    const { engine, store, clock, agent } = createWorker();
    const made = await engine.schedule({
      agent,
      input: "Water the plants.",
      at: start + 60_000,
      timeZone: "UTC",
    });
    expect(made).toMatchObject({ state: "active", nextAt: start + 60_000, agent: "helper" });
    await advance(clock, 59_000);
    expect(await listStarted(store)).toEqual([]);
    await advance(clock, 3_000);
    const after = await engine.schedules.get(made.id);
    expect(after).toMatchObject({ state: "ended", missedCount: 0, runs: [{ dueAt: start + 60_000 }] });
    expect(after.nextAt).toBeUndefined();
    const runId = after.runs[0]?.runId ?? "";
    expect(await engine.open(runId)).toMatchObject({ status: "done", text: "Done." });
    expect(await loadStart(store, runId)).toMatchObject({
      input: [{ type: "user", content: "Water the plants." }],
      timeZone: "UTC",
    });
  });

  it("starts runs at intervals and by cron in its time zone, in one session if it has one", async () => {
    const { engine, store, clock } = createWorker();
    const tick = await engine.schedule({ agent: "helper", input: "Tick", every: "2m", session: "clock" });
    const daily = await engine.schedule({
      agent: "helper",
      input: "Hi",
      cron: "5 9 * * *",
      timeZone: "Europe/Oslo",
    });
    expect(iso(daily.nextAt)).toBe("2026-01-01T08:05:00.000Z");
    await advance(clock, 250_000);
    const { runs } = await engine.schedules.get(tick.id);
    expect(runs.map(({ dueAt }) => dueAt - start)).toEqual([240_000, 120_000]);
    expect((await store.listRuns("clock")).map(({ runId }) => runId)).toEqual(
      runs.map(({ runId }) => runId).reverse(),
    );
    await advance(clock, 60_000);
    expect(iso((await engine.schedules.get(daily.id)).nextAt)).toBe("2026-01-02T08:05:00.000Z");
    expect((await engine.schedules.list()).map(({ id }) => id)).toContain(daily.id);
  });

  it("is started once by several processes that share a store (F74)", async () => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const workers = [1, 2, 3].map(() => createWorker({ store, clock }));
    await workers[0]?.engine.schedule({ agent: "helper", input: "Once", at: start + 5_000 });
    await workers[1]?.engine.schedule({ agent: "helper", input: "Often", every: 10_000, session: "often" });
    await advance(clock, 61_000);
    expect(await listStarted(store)).toHaveLength(7);
    expect(await store.listRuns("often")).toHaveLength(6);
  });

  it.each([
    "run-once",
    "skip",
  ] as const)("that was missed follows its policy %s and reports how many times", async (missed) => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const before = createWorker({ store, clock });
    const { id } = await before.engine.schedule({ agent: "helper", input: "Tick", every: "1h", missed });
    await before.engine.close();
    await clock.advance(3.5 * 3_600_000);
    const reports: number[] = [];
    const { engine } = createWorker({ store, clock, onMissed: (_, count) => reports.push(count) });
    await advance(clock, 2_000);
    const count = missed === "skip" ? 3 : 2;
    const after = await engine.schedules.get(id);
    expect(reports).toEqual([count]);
    expect(after).toMatchObject({ missedCount: count, nextAt: start + 4 * 3_600_000 });
    expect(after.runs.map((run) => run.missed)).toEqual(missed === "skip" ? [] : [2]);
    if (missed === "skip") return;
    const { input } = await loadStart(store, after.runs[0]?.runId ?? "");
    expect(input).toMatchObject([
      {
        provenance: "operator",
        content: expect.stringMatching(/scheduled for Thursday.* 2 later times were missed/),
      },
      { content: "Tick" },
    ]);
  });

  it("is paused, resumed, run now, and removed", async () => {
    const { engine, store, clock } = createWorker();
    const { id } = await engine.schedule({ agent: "helper", input: "Tick", every: "1m", session: "ticks" });
    expect(await engine.schedules.pause(id)).toMatchObject({ state: "paused" });
    await advance(clock, 130_000);
    expect(await store.listRuns("ticks")).toEqual([]);
    expect((await engine.schedules.resume(id)).nextAt).toBe(start + 180_000);
    const { runId } = await engine.schedules.run(id);
    await engine.open(runId);
    expect((await engine.schedules.get(id)).runs).toMatchObject([{ runId, isManual: true }]);
    await engine.schedules.remove(id);
    await advance(clock, 130_000);
    expect(await store.listRuns("ticks")).toHaveLength(1);
    for (const act of ["get", "pause", "resume", "remove", "run"] as const)
      await expect(engine.schedules[act](id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("with the same id and content is found again, also after a crash before the caller was told (F70)", async () => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const putRecord = store.putRecord.bind(store);
    const crashing: Store = {
      ...store,
      async putRecord(record, expected) {
        await putRecord(record, expected);
        throw new Error("the process is gone");
      },
    };
    const request = { agent: "helper", input: "Once", every: "1m", id: "ann~daily" } as const;
    const { engine: dying } = createWorker({ store: crashing, clock });
    await dying.schedule(request).catch(() => undefined);
    await dying.close();
    const { engine } = createWorker({ store, clock });
    await advance(clock, 62_000);
    const found = await engine.schedule(request);
    expect(found.runs).toHaveLength(1);
    expect(await engine.schedules.list({ user: "ann" })).toHaveLength(1);
    expect(await engine.schedules.list({ user: "bob" })).toEqual([]);
    await expect(engine.schedule({ ...request, input: "Other" })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
  });

  it("that a process has claimed and not started is started by another, as the same run (F70, F74)", async () => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const hangs = createWorker({ store, clock, startScheduled: () => new Promise(() => undefined) });
    const { id } = await hangs.engine.schedule({ agent: "helper", input: "Once", at: start + 1_000 });
    await advance(clock, 3_000);
    engines.delete(hangs.engine); // it never comes back
    const { engine } = createWorker({ store, clock });
    await advance(clock, 10_000);
    expect(await listStarted(store)).toEqual([]);
    await advance(clock, 25_000);
    expect((await engine.schedules.get(id)).runs).toMatchObject([{ runId: `run_${id}_${start + 1_000}` }]);
    expect(await listStarted(store)).toHaveLength(1);
  });

  it("is left to the processes that have its agent", async () => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const { engine } = createWorker({ store, clock });
    const { id } = await engine.schedule({ agent: "helper", input: "Once", at: start + 5_000 });
    await engine.close();
    const other = defineAgent({ name: "other", model: scriptedModel([]) });
    createWorker({ store, clock, agents: other });
    await advance(clock, 10_000);
    const back = createWorker({ store, clock });
    await advance(clock, 2_000);
    expect((await back.engine.schedules.get(id)).runs).toHaveLength(1);
  });

  it("that one process cannot start, as its facts are newer, is left to another at once", async () => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const refuse = async () => {
      throw Object.assign(new Error("Update this process."), { code: "newer_version" });
    };
    const old = createWorker({ store, clock, startScheduled: refuse });
    const { id } = await old.engine.schedule({ agent: "helper", input: "Once", at: start + 1_000 });
    await advance(clock, 3_000);
    const { engine } = createWorker({ store, clock });
    await advance(clock, 2_000);
    expect((await engine.schedules.get(id)).runs).toMatchObject([{ dueAt: start + 1_000 }]);
    expect(await listStarted(store)).toHaveLength(1);
  });

  it("lists why a run could not start, and ends with its session", async () => {
    const refuse = async () => {
      throw Object.assign(new Error("No more today."), { code: "quota_exceeded" });
    };
    const { engine, store, clock } = createWorker({ startScheduled: refuse });
    const { id } = await engine.schedule({ agent: "helper", input: "Tick", every: "1m" });
    await advance(clock, 61_000);
    expect((await engine.schedules.get(id)).runs).toMatchObject([{ error: { code: "quota_exceeded" } }]);
    const inSession = await engine.schedule({ agent: "helper", input: "Tick", every: "1m", session: "gone" });
    await store.remove("gone");
    await advance(clock, 61_000);
    expect(await engine.schedules.get(inSession.id)).toMatchObject({
      state: "ended",
      runs: [{ error: { code: "not_found" } }],
    });
  });

  it("of an engine that closes while a run starts is stored or left to others, and keeps no lease", async () => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow: Store = {
      ...store,
      async getSession(id) {
        reached.resolve();
        await goOn.promise;
        return store.getSession(id);
      },
    };
    const closing = createWorker({ store: slow, clock });
    const { id } = await closing.engine.schedule({
      agent: "helper",
      input: "Once",
      at: start + 1_000,
      session: "s",
    });
    await clock.advance(2_000);
    await reached.promise;
    const closed = closing.engine.close();
    goOn.resolve();
    await closed;
    expect(await store.lease("s", "another", 1_000)).toBeDefined();
    const [run] = (await store.listRuns("s")).map(({ runId }) => runId);
    expect(run).toBe(`run_${id}_${start + 1_000}`);
  });

  it.each<[string, Partial<ScheduleOptions>, RegExp]>([
    ["no time", {}, /one of `at`, `every`, `cron` and `when`/],
    ["two times", { at: start, every: "1h" }, /not `at` and `every`/],
    ["a past time", { at: start - 1 }, /is over/],
    ["an invalid date", { at: "soon" }, /must be a date/],
    ["an invalid interval", { every: "often" }, /must be whole milliseconds/],
    ["a short interval", { every: 10 }, /every 10 ms\. At most one run every second is allowed/],
    ["a date that never comes", { cron: "0 0 30 2 *" }, /never matches/],
    ["an unknown time zone", { cron: "0 9 * * *", timeZone: "Mars/Olympus" }, /Unknown time zone/],
    ["a session of another user", { every: "1h", id: "ann~x", session: "bob~s" }, /another user/],
    ["an invalid id", { every: "1h", id: "a b" }, /its id/],
    ["no input", { every: "1h", input: [] }, /input is empty/],
    ["a long input", { every: "1h", input: "x".repeat(40_000) }, /the maximum is/],
    ["an unknown policy", { every: "1h", missed: "later" as never }, /`missed` must be/],
  ])("with %s is rejected with what to do", async (_, options, message) => {
    const { engine } = createWorker();
    const request = { agent: "helper", input: "Hi", ...options };
    await expect(engine.schedule(request)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(message),
    });
    await expect(engine.schedule({ ...request, agent: "nobody" })).rejects.toMatchObject({
      code: "unknown_agent",
    });
  });

  it("beyond the limit of a user is rejected, also if several are added at once", async () => {
    const { engine, clock } = createWorker({ scheduleLimits: { maxSchedules: 2 } });
    const add = (user: string) => engine.schedule({ agent: "helper", input: "Hi", at: start + 5_000, user });
    await add("ann");
    const race = await Promise.allSettled([add("ann"), add("ann"), add("ann"), add("bob")]);
    expect((await engine.schedules.list({ user: "ann" })).length).toBeLessThanOrEqual(2);
    expect(race.at(-1)?.status).toBe("fulfilled");
    expect(race[2]).toMatchObject({ reason: { code: "quota_exceeded" } });
    await advance(clock, 8_000);
    await expect(add("ann")).rejects.toMatchObject({ code: "invalid_input" }); // its time is over
    expect((await engine.schedules.list({ user: "ann" })).every(({ state }) => state === "ended")).toBe(true);
  });
});

describe("on a scheduled engine", () => {
  it("a schedule stores its runs, and the other system executes them", async () => {
    const clock = fakeClock({ start });
    const store = memory({ clock });
    const agent = defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Done." })) });
    const requested: string[] = [];
    const engine = createScheduledEngine({
      ...{ store, clock, agents: agent },
      schedule: async ({ runId }) => void requested.push(runId),
    });
    engines.add(engine);
    const { id } = await engine.schedule({ agent, input: "Once", at: start + 1_000 });
    await advance(clock, 3_000);
    expect(requested).toEqual([`run_${id}_${start + 1_000}`]);
    expect(await engine.executeSegment({ runId: requested[0] ?? "" })).toMatchObject({ status: "done" });
  });
});

describe("on SQLite", () => {
  it("a schedule survives its process, and is late by then", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-schedules-"));
    const file = join(folder, "store.db");
    const clock = fakeClock({ start });
    const first = sqlite(file);
    const { engine: before } = createWorker({ store: first, clock });
    const { id } = await before.schedule({
      agent: "helper",
      input: "Once",
      at: start + 60_000,
      session: "s",
    });
    await before.close();
    await first.close();
    const store = sqlite(file);
    clock.step(120_000);
    const { engine } = createWorker({ store, clock });
    await engine.recover();
    expect((await engine.schedules.get(id)).runs).toMatchObject([{ sessionId: "s" }]);
    await engine.open(`run_${id}_${start + 60_000}`);
    await engine.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
});
