import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Store, StoreNotice } from "../../runtime/store.ts";
import {
  acquireTestLease,
  createDelta,
  createStartFact,
  createSteerMessage,
  createWarningFact,
} from "./facts-for-suite.ts";

/** Subscriptions to facts, messages and deltas. */
export function watchingSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("watching", () => {
    it("receives facts, messages and deltas of the watched session only", async () => {
      const heard: StoreNotice[] = [];
      const leases = { s1: await acquireTestLease(store, "s1"), s2: await acquireTestLease(store, "s2") };
      store.watch("s1", (news) => heard.push(news));
      store.watch("s1", () => {
        throw new Error("a listener that fails does not affect the others");
      });
      await store.append([createStartFact("s2", "r2")], { expected: 0, lease: leases.s2 });
      store.publish("s2", [createDelta("s2", "no")]);
      await store.sendMessage("r2", createSteerMessage("k"));
      expect(heard).toEqual([]);
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease: leases.s1 });
      await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
      await store.sendMessage("r1", createSteerMessage("k"));
      await vi.waitFor(() => expect(heard).toContainEqual({ type: "message", runId: "r1" }), 30_000);
      store.publish("s1", [createDelta("s1", "a"), createDelta("s1", "b")]);
      const live = () => heard.flatMap((news) => (news.type === "deltas" ? news.deltas : []));
      await vi.waitFor(
        () => expect(live()).toEqual([createDelta("s1", "a"), createDelta("s1", "b")]),
        30_000,
      );
    });

    it("starts with the deltas since the last facts, at once, joined and never twice", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      const listen = () => {
        const heard: StoreNotice[] = [];
        const stop = store.watch("s1", (news) => heard.push(news));
        return { stop, live: () => heard.flatMap((news) => (news.type === "deltas" ? news.deltas : [])) };
      };
      for (const text of ["a", "b"]) store.publish("s1", [createDelta("s1", text)]);
      const late = listen();
      expect(late.live()).toEqual([createDelta("s1", "ab")]);
      store.publish("s1", [createDelta("s1", "c")]);
      const later = listen();
      expect([late.live(), later.live()]).toEqual([
        [createDelta("s1", "ab"), createDelta("s1", "c")],
        [createDelta("s1", "abc")],
      ]);
      await store.append([createWarningFact("s1", "r1", "a")], { expected: 1, lease });
      expect(listen().live()).toEqual([]);
      store.publish("s1", [{ ...createDelta("s1", "d"), after: 2 }]);
      await store.remove("s1");
      expect(listen().live()).toEqual([]);
      expect(later.live()).toHaveLength(2);
    });

    it("ends on unsubscribe, for that listener only", async () => {
      const lease = await acquireTestLease(store, "s1");
      const [gone, stays] = [vi.fn(), vi.fn()];
      const stop = store.watch("s1", gone);
      store.watch("s1", stays);
      stop();
      stop();
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      store.publish("s1", [createDelta("s1", "a")]);
      await vi.waitFor(() => expect(stays.mock.calls.length).toBeGreaterThan(1), 30_000);
      expect(gone).not.toHaveBeenCalled();
    });
  });
}
