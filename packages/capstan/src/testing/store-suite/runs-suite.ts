import { beforeEach, describe, expect, it, vi } from "vitest";
import type { UnplacedFact } from "../../kernel/event.ts";
import { getScope } from "../../kernel/session-id.ts";
import type { OrphanOptions, RunMessage, Store } from "../../runtime/store.ts";
import {
  acquireTestLease,
  createDoneFact,
  createFact,
  createStartFact,
  createSteerMessage,
  createWaitingFact,
  createWarningFact,
  delay,
} from "./facts-for-suite.ts";

/** Runs and the messages sent to them. */
export function runsSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("runs", () => {
    it("are listed in start order with their state", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r2", 1), createDoneFact("s1", "r2", 2)], {
        expected: 0,
        lease,
      });
      await store.append([createStartFact("s1", "r1", 3), createWaitingFact("s1", "r1", "0", 4)], {
        expected: 2,
        lease,
      });
      await store.append([createStartFact("s1", "r0", 5), createWarningFact("s1", "r0", "a", 6)], {
        expected: 4,
        lease,
      });
      const run = { sessionId: "s1", agent: "a" };
      expect(await store.listRuns("s1")).toEqual([
        { ...run, runId: "r2", state: "ended", startedAt: 1, updatedAt: 2 },
        { ...run, runId: "r1", state: "waiting", startedAt: 3, updatedAt: 4 },
        { ...run, runId: "r0", state: "active", startedAt: 5, updatedAt: 6 },
      ]);
      expect((await store.listRuns("s1", 2)).map(({ runId }) => runId)).toEqual(["r1", "r0"]);
      expect(await store.listRuns("nobody")).toEqual([]);
    });

    it("are found with the position of their first fact", async () => {
      const lease = await acquireTestLease(store, "s1");
      const first = [createStartFact("s1", "r1", 1), createDoneFact("s1", "r1", 2)];
      await store.append(first, { expected: 0, lease });
      const nested = { parentRunId: "r\u0000 2", parentCallId: "c" };
      const second = [
        createStartFact("s1", "r\u0000 2", 3),
        { ...createStartFact("s1", "r2~c", 4), ...nested },
        { ...createDoneFact("s1", "r2~c", 5), ...nested },
      ];
      await store.append(second, { expected: 2, lease });
      const run = { sessionId: "s1", agent: "a" };
      const ended = { ...run, runId: "r1", state: "ended", startedAt: 1, updatedAt: 2, firstSeq: 1 };
      expect(await store.findRun("r1")).toEqual(ended);
      expect(await store.findRun("r\u0000 2")).toMatchObject({ ...run, state: "active", firstSeq: 3 });
      expect(await store.findRun("r2~c")).toBeUndefined();
    });

    it("have the position 1 if their first fact was imported with its own id", async () => {
      const lease = await acquireTestLease(store, "s1");
      const imported = { ...createStartFact("s1", "r1"), id: "foreign" };
      await store.append([imported, createDoneFact("s1", "r1")], { expected: 0, lease });
      expect(await store.findRun("r1")).toMatchObject({ firstSeq: 1 });
    });

    it("are orphaned when they have work and no process holds the session (F73)", async () => {
      for (const [sessionId, rest] of Object.entries({
        active: [],
        waiting: [createWaitingFact("waiting", "waiting")],
        told: [createWaitingFact("told", "told")],
        ended: [createDoneFact("ended", "ended")],
        leased: [],
        lapsed: [],
      })) {
        const lease = await acquireTestLease(store, sessionId);
        await store.append([createStartFact(sessionId, sessionId), ...rest], { expected: 0, lease });
        if (sessionId === "lapsed") await store.renew(lease, 1);
        else if (sessionId !== "leased") await store.release(lease);
      }
      await store.sendMessage("told", createSteerMessage("k"));
      await store.sendMessage("leased", createSteerMessage("k"));
      await delay(10);
      const orphans = await store.listOrphans();
      expect(orphans.map(({ runId }) => runId).sort()).toEqual(["active", "lapsed", "told"]);
      expect(orphans.find(({ runId }) => runId === "told")).toMatchObject({
        sessionId: "told",
        state: "waiting",
      });
      const all = await store.listOrphans({ includeWaiting: true });
      expect(all.map(({ runId }) => runId).sort()).toEqual(["active", "lapsed", "told", "waiting"]);
    });

    it("are no longer orphaned once a process takes them over, receives their messages, or ends them", async () => {
      const first = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1"), createWaitingFact("s1", "r1")], {
        expected: 0,
        lease: first,
      });
      await store.release(first);
      await store.sendMessage("r1", createSteerMessage("k"));
      expect(await store.listOrphans()).toHaveLength(1);
      const lease = await acquireTestLease(store, "s1", "bob");
      expect(await store.listOrphans()).toEqual([]);
      await store.append([createWaitingFact("s1", "r1", "1")], { expected: 2, lease, acknowledged: ["k"] });
      await store.release(lease);
      expect(await store.listOrphans()).toEqual([]);
      const last = await acquireTestLease(store, "s1", "cid");
      await store.append([createWarningFact("s1", "r1", "a")], { expected: 3, lease: last });
      await store.release(last);
      expect(await store.listOrphans()).toHaveLength(1);
    });
  });

  describe("unfinished runs", () => {
    it("are counted by state, with those that no process takes and since when", async () => {
      expect(await store.countRuns()).toEqual({ active: 0, waiting: 0, untaken: 0 });
      const inAMinute = Date.now() + 60_000;
      const suspend = (runId: string, until: number) =>
        createFact(runId, runId, { type: "waiting", callIds: [], until }, 6000);
      for (const [runId, rest] of Object.entries({
        stored: [createWarningFact("stored", "stored", "a", 5000)],
        leased: [],
        waiting: [createWaitingFact("waiting", "waiting")],
        ended: [createDoneFact("ended", "ended")],
        suspended: [suspend("suspended", inAMinute)],
      })) {
        const lease = await acquireTestLease(store, runId);
        await store.append([createStartFact(runId, runId, 4000), ...rest], { expected: 0, lease });
        if (runId !== "leased") await store.release(lease);
      }
      expect(await store.countRuns()).toEqual({ active: 3, waiting: 1, untaken: 1, untakenSince: 5000 });
      const lease = await acquireTestLease(store, "stored");
      expect(await store.countRuns()).toEqual({ active: 3, waiting: 1, untaken: 0 });
      const due = createFact("stored", "stored", { type: "waiting", callIds: [], until: 9000 }, 8000);
      await store.append([due], { expected: 2, lease });
      await store.release(lease);
      expect(await store.countRuns()).toMatchObject({ untaken: 1, untakenSince: 9000 });
    });

    it("are untaken from the end of a lease that was not released, not from their last fact", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1", 1000)], { expected: 0, lease });
      await store.renew(lease, 1);
      await delay(10);
      const { untaken, untakenSince = 0 } = await store.countRuns();
      expect(untaken).toBe(1);
      expect(untakenSince).toBeGreaterThan(Date.now() - 600_000);
      expect(untakenSince).toBeLessThanOrEqual(Date.now());
    });
  });

  describe("orphaned runs", () => {
    /** Stores a run that has started in each session, without a lease. */
    async function leave(...sessionIds: readonly string[]): Promise<void> {
      for (const sessionId of sessionIds) {
        const lease = await acquireTestLease(store, sessionId);
        await store.append([createStartFact(sessionId, `run ${sessionId}`)], { expected: 0, lease });
        await store.release(lease);
      }
    }
    const listSessionIds = async (options?: OrphanOptions) =>
      (await store.listOrphans(options)).map(({ sessionId }) => sessionId);

    it("are listed up to a limit, and users take turns: the runs of one do not delay the first of another", async () => {
      await leave(...Array.from({ length: 20 }, (_, index) => `ann~${index}`), "bob~1", "bob~2", "cid~1");
      for (const options of [{ limit: 3 }, { limit: 3, claimMs: 1 }]) {
        const scopes = (await listSessionIds(options)).map(getScope).sort();
        expect(scopes).toEqual(["ann", "bob", "cid"]);
        await delay(10);
      }
      expect(await listSessionIds({ limit: 100 })).toHaveLength(23);
      expect(await listSessionIds({ limit: 0 })).toEqual([]);
      const except = ["run bob~1", "run bob~2", "run cid~1"];
      for (const options of [{ except }, { except, limit: 100, claimMs: 1 }])
        expect(await listSessionIds(options)).toHaveLength(20);
    });

    it("are listed alone by the id of a run", async () => {
      await leave("s1", "s2", "held");
      const held = await acquireTestLease(store, "held");
      expect(await listSessionIds({ runId: "run s2" })).toEqual(["s2"]);
      for (const runId of ["run held", "nobody"]) expect(await listSessionIds({ runId })).toEqual([]);
      await store.append([createWaitingFact("held", "run held")], { expected: 1, lease: held });
      await store.release(held);
      expect(await listSessionIds({ runId: "run held" })).toEqual([]);
      expect(await listSessionIds({ runId: "run held", includeWaiting: true })).toEqual(["held"]);
      await store.sendMessage("run held", createSteerMessage("k"));
      expect(await listSessionIds({ runId: "run held" })).toEqual(["held"]);
    });

    it("are claimed by one listing at a time, and listed by all others (F74)", async () => {
      const sessionIds = Array.from({ length: 12 }, (_, index) => `s${index}`);
      await leave(...sessionIds);
      const claim = () => listSessionIds({ limit: 4, claimMs: 60_000 });
      const pages = await Promise.all([claim(), claim(), claim(), claim()]);
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(4);
      expect(pages.flat().sort()).toEqual(sessionIds.toSorted());
      expect(await claim()).toEqual([]);
      expect(await listSessionIds()).toHaveLength(12);
    });

    it("can be claimed again when the claim has expired, those that were never claimed first", async () => {
      await leave("s1", "s2");
      const [first] = await listSessionIds({ limit: 1, claimMs: 20 });
      await vi.waitFor(async () => {
        const [next] = await listSessionIds({ limit: 1, claimMs: 20 });
        expect(next).not.toBe(first);
      });
      await vi.waitFor(async () => expect(await listSessionIds({ limit: 5, claimMs: 1 })).toHaveLength(2));
    });

    it("are no longer claimed once a process has leased their session", async () => {
      await leave("s1");
      expect(await listSessionIds({ limit: 1, claimMs: 60_000 })).toEqual(["s1"]);
      const lease = await acquireTestLease(store, "s1", "bob");
      expect(await listSessionIds({ limit: 1, claimMs: 60_000 })).toEqual([]);
      await store.release(lease);
      expect(await listSessionIds({ limit: 1, claimMs: 60_000 })).toEqual(["s1"]);
    });

    it("of a process that is gone are claimed when its lease has expired (F73)", async () => {
      const lease = await acquireTestLease(store, "s1", "ann", 60_000);
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      expect(await listSessionIds({ limit: 1, claimMs: 60_000 })).toEqual([]);
      await store.renew(lease, 1);
      await delay(10);
      expect(await listSessionIds({ limit: 1, claimMs: 60_000 })).toEqual(["s1"]);
      const next = await acquireTestLease(store, "s1", "bob");
      await store.append([createDoneFact("s1", "r1")], { expected: 1, lease: next });
      await store.release(next);
      expect(await listSessionIds({ limit: 1, claimMs: 60_000 })).toEqual([]);
    });

    it("are claimed when they wait and receive a message, also just before their session is released", async () => {
      for (const sessionId of ["early", "late", "silent"]) {
        const lease = await acquireTestLease(store, sessionId);
        const facts = [createStartFact(sessionId, sessionId), createWaitingFact(sessionId, sessionId)];
        await store.append(facts, { expected: 0, lease });
        if (sessionId === "early") await store.sendMessage("early", createSteerMessage("k"));
        await store.release(lease);
      }
      await store.sendMessage("late", createSteerMessage("k"));
      expect((await listSessionIds({ limit: 9, claimMs: 60_000 })).sort()).toEqual(["early", "late"]);
      await store.remove("late");
      expect(await listSessionIds()).toEqual(["early"]);
    });

    it("are reported to watchers of work when a process leaves them or sends them a message", async () => {
      const onWork = vi.fn();
      const stop = store.watchWork?.(onWork);
      if (!stop) return; // optional
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      expect(onWork).not.toHaveBeenCalled();
      await store.release(lease);
      await vi.waitFor(() => expect(onWork).toHaveBeenCalledTimes(1), 30_000);
      const next = await acquireTestLease(store, "s1");
      await store.append([createWaitingFact("s1", "r1")], { expected: 1, lease: next });
      await store.release(next);
      await store.sendMessage("r1", createSteerMessage("k"));
      await vi.waitFor(() => expect(onWork).toHaveBeenCalledTimes(2), 30_000);
      stop();
      await store.sendMessage("r1", createSteerMessage("l"));
      await delay(10);
      expect(onWork).toHaveBeenCalledTimes(2);
    });
  });

  describe("messages to a run", () => {
    const all: readonly RunMessage[] = [
      { key: "1", type: "steer", text: "\u0000 left, \ud83d\ude80" },
      { key: "2", type: "approve", callId: "c1", value: { a: [1, null] } },
      { key: "0", type: "deny", callId: "c2", reason: "no" },
      { key: "\ud800", type: "result", callId: "c3", value: "x".repeat(1_000_000) },
      { key: "__proto__", type: "cancel" },
    ];

    it("are listed in order until they are acknowledged", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1"), createStartFact("s1", "r2")], { expected: 0, lease });
      for (const message of all) await store.sendMessage("r1", message);
      await store.sendMessage("r2", createSteerMessage("1"));
      expect(await store.listMessages("r1")).toEqual(all);
      await store.append([createWarningFact("s1", "r1", "a")], {
        expected: 2,
        lease,
        acknowledged: ["2", "\ud800"],
      });
      expect(await store.listMessages("r1")).toEqual([all[0], all[2], all[4]]);
      expect(await store.listMessages("r2")).toEqual([createSteerMessage("1")]);
      expect(await store.listMessages("nobody")).toEqual([]);
    });

    it("count once per key, also after they were acknowledged and after the end (F84)", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      await Promise.all([
        store.sendMessage("r1", createSteerMessage("k")),
        store.sendMessage("r1", createSteerMessage("k")),
      ]);
      await store.sendMessage("r1", { key: "k", type: "cancel" });
      expect(await store.listMessages("r1")).toEqual([createSteerMessage("k")]);
      await store.append([createWarningFact("s1", "r1", "a")], { expected: 1, lease, acknowledged: ["k"] });
      await store.sendMessage("r1", createSteerMessage("k"));
      expect(await store.listMessages("r1")).toEqual([]);
      await store.append([createDoneFact("s1", "r1")], { expected: 2, lease });
      await store.sendMessage("r1", createSteerMessage("k"));
      expect(await store.listMessages("r1")).toEqual([]);
    });

    it("count as sent if their key was acknowledged directly", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease, acknowledged: ["k"] });
      await store.sendMessage("r1", createSteerMessage("k"));
      expect(await store.listMessages("r1")).toEqual([]);
    });

    it("are rejected for unknown runs and for runs that have ended", async () => {
      await expect(store.sendMessage("r1", createSteerMessage("k"))).rejects.toMatchObject({
        code: "unknown_run",
      });
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1"), createDoneFact("s1", "r1")], { expected: 0, lease });
      await expect(store.sendMessage("r1", createSteerMessage("k"))).rejects.toMatchObject({
        code: "run_ended",
      });
      expect(await store.listMessages("r1")).toEqual([]);
    });

    it("reopen an ended run with a retry, if it is the last of its session and can be retried", async () => {
      const retry: RunMessage = { type: "retry", key: "again" };
      const lease = await acquireTestLease(store, "s1");
      const facts = [createStartFact("s1", "r1"), createDoneFact("s1", "r1")];
      await store.append(facts, { expected: 0, lease });
      await expect(store.sendMessage("r1", retry)).rejects.toMatchObject({ code: "not_retryable" });
      const failed = { ...createDoneFact("s1", "r2"), canRetry: true };
      await store.append([createStartFact("s1", "r2"), failed as UnplacedFact], { expected: 2, lease });
      await store.release(lease);
      await expect(store.sendMessage("r2", createSteerMessage("k"))).rejects.toMatchObject({
        code: "run_ended",
      });
      expect(await store.listOrphans()).toEqual([]);
      await Promise.all([store.sendMessage("r2", retry), store.sendMessage("r2", retry)]);
      expect(await store.listMessages("r2")).toEqual([retry]);
      expect(await store.listOrphans()).toMatchObject([{ runId: "r2", state: "waiting" }]);
      const next = await acquireTestLease(store, "s1");
      const retried = createFact("s1", "r2", { type: "retried" });
      await store.append([retried], { expected: 4, lease: next, acknowledged: ["again"] });
      expect((await store.listRuns("s1"))[1]).toMatchObject({ runId: "r2", state: "active" });
      expect(await store.listMessages("r2")).toEqual([]);
    });

    it("are void once a later run has started: a retry that came first is no work", async () => {
      const lease = await acquireTestLease(store, "s1");
      const failed = { ...createDoneFact("s1", "r1"), canRetry: true };
      await store.append([createStartFact("s1", "r1"), failed as UnplacedFact], { expected: 0, lease });
      await store.sendMessage("r1", { type: "retry", key: "k" });
      await store.append([createStartFact("s1", "r2"), createDoneFact("s1", "r2")], { expected: 2, lease });
      await store.release(lease);
      expect(await store.listOrphans()).toEqual([]);
    });

    it("are acknowledged together with the facts: a rejected append leaves them pending (F70)", async () => {
      const stale = await acquireTestLease(store, "s1", "ann");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease: stale });
      await store.sendMessage("r1", createSteerMessage("k"));
      const conflict = store.append([createWarningFact("s1", "r1", "a")], {
        expected: 0,
        lease: stale,
        acknowledged: ["k"],
      });
      await expect(conflict).rejects.toMatchObject({ code: "position_conflict" });
      expect(await store.listMessages("r1")).toEqual([createSteerMessage("k")]);
      await store.release(stale);
      await acquireTestLease(store, "s1", "bob");
      const lost = store.append([createWarningFact("s1", "r1", "a")], {
        expected: 1,
        lease: stale,
        acknowledged: ["k"],
      });
      await expect(lost).rejects.toMatchObject({ code: "lease_lost" });
      expect(await store.listMessages("r1")).toEqual([createSteerMessage("k")]);
    });
  });
}
