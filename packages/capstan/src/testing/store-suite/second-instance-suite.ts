import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Store, StoreNotice } from "../../runtime/store.ts";
import {
  acquireTestLease,
  createMessageFact,
  createStartFact,
  createSteerMessage,
  createWarningFact,
  delay,
} from "./facts-for-suite.ts";

/** Two instances on the same data. */
export function secondInstanceSuite(
  getStore: () => Store,
  second: (first: Store) => Store | Promise<Store>,
): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("with a second instance on the same data", () => {
    let other: Store;
    beforeEach(async () => {
      other = await second(store);
    });
    afterEach(() => other.close());

    it("both see facts, runs, titles, blobs, messages and search results", async () => {
      const lease = await acquireTestLease(store, "s1");
      const facts = await store.append(
        [createStartFact("s1", "r1"), createMessageFact("s1", "r1", "apricot")],
        {
          expected: 0,
          lease,
        },
      );
      const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "x" });
      await store.rename("s1", "title");
      expect(await other.read("s1")).toEqual(facts);
      expect(await other.listRuns("s1")).toEqual(await store.listRuns("s1"));
      expect(await other.list()).toMatchObject([{ id: "s1", title: "title", facts: 2 }]);
      expect(await other.getBlob("s1", handle)).toMatchObject({ data: "x" });
      expect(await other.search("apricot")).toHaveLength(1);
      await Promise.all([
        other.sendMessage("r1", createSteerMessage("k")),
        store.sendMessage("r1", createSteerMessage("k")),
      ]);
      expect(await store.listMessages("r1")).toEqual([createSteerMessage("k")]);
      await other.remove("s1");
      expect(await store.read("s1")).toEqual([]);
      await other.create("s2", "made");
      expect(await store.getSession("s2")).toMatchObject({ title: "made", facts: 0 });
    });

    it("one holds the lease; the other can take it over once it expires, and fences off the first (F74, F75)", async () => {
      const both = await Promise.all([store.lease("s1", "ann", 60_000), other.lease("s1", "bob", 60_000)]);
      expect(both.filter((lease) => lease !== undefined)).toHaveLength(1);
      const stale = await acquireTestLease(store, "s2", "ann", 1);
      await store.append([createStartFact("s2", "r2")], { expected: 0, lease: stale });
      await delay(10);
      expect((await other.listOrphans()).map(({ runId }) => runId)).toEqual(["r2"]);
      const fresh = await acquireTestLease(other, "s2", "bob");
      expect(fresh.token).toBeGreaterThan(stale.token);
      expect(await store.listOrphans()).toEqual([]);
      await expect(
        store.append([createWarningFact("s2", "r2", "a")], { expected: 1, lease: stale }),
      ).rejects.toMatchObject({ code: "lease_lost" });
      await other.append([createWarningFact("s2", "r2", "b")], { expected: 1, lease: fresh });
      expect(await store.read("s2")).toHaveLength(2);
    });

    it("their appends do not interleave: at one position one wins, and no log has a gap", async () => {
      const lease = await acquireTestLease(store, "s1");
      let [won, lost] = [0, 0];
      for (let expected = 0; expected < 20; expected++) {
        const race = [store, other].map((each, index) =>
          each.append([createWarningFact("s1", "r1", `${expected} ${index}`)], { expected, lease }),
        );
        for (const outcome of await Promise.allSettled(race)) outcome.status === "fulfilled" ? won++ : lost++;
      }
      expect([won, lost]).toEqual([20, 20]);
      const seqs = (await other.read("s1")).map((stored) => stored.seq);
      expect(seqs).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    });

    it("both see records, and of two concurrent writes of a version one wins (F74)", async () => {
      for (let expected = 0; expected < 10; expected++) {
        const race = [store, other].map((each, body) =>
          each.putRecord({ kind: "note", id: "a", body }, expected),
        );
        const won = (await Promise.allSettled(race)).filter(({ status }) => status === "fulfilled");
        expect(won).toHaveLength(1);
      }
      expect(await other.listRecordVersions("note", "a")).toEqual(
        await store.listRecordVersions("note", "a"),
      );
      await other.removeRecord("note", "a", 10);
      expect(await store.listRecords("note")).toEqual([]);
    });

    it("a watcher of one is notified of the writes and messages of the other", async () => {
      const lease = await acquireTestLease(store, "s1");
      const heard: StoreNotice[] = [];
      const stop = other.watch("s1", (news) => heard.push(news));
      await delay(50);
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
      await store.sendMessage("r1", createSteerMessage("k"));
      await vi.waitFor(() => expect(heard).toContainEqual({ type: "message", runId: "r1" }), 30_000);
      stop();
    });
  });
}
