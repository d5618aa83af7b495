import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../runtime/store.ts";
import { acquireTestLease, createStartFact, createWarningFact } from "./facts-for-suite.ts";

/** Snapshots: a cache of the state of a session. */
export function snapshotsSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  async function writeSession(sessionId: string): ReturnType<typeof acquireTestLease> {
    const lease = await acquireTestLease(store, sessionId);
    const facts = [createStartFact(sessionId, "r1"), createWarningFact(sessionId, "r1", "w1")];
    await store.append(facts, { expected: 0, lease });
    return lease;
  }

  describe("snapshots", () => {
    it("replace the earlier one of their session", async () => {
      const lease = await writeSession("s1");
      expect(await store.getSnapshot("s1")).toBeUndefined();
      await store.putSnapshot({ seq: 1, version: 1, state: '{"a":1}' }, lease);
      const newer = { seq: 2, version: 7, state: JSON.stringify(["\u0000 \ud800 ä", "x".repeat(1_000_000)]) };
      await store.putSnapshot(newer, lease);
      expect((await store.getSnapshot("s1"))?.state === newer.state).toBe(true);
      expect(await store.getSnapshot("s1")).toMatchObject({ seq: 2, version: 7 });
      expect(await store.getSnapshot("s2")).toBeUndefined();
    });

    it("are stored only by the holder of the lease", async () => {
      const stale = await writeSession("s1");
      await store.release(stale);
      const lease = await acquireTestLease(store, "s1", "another");
      const snapshot = { seq: 2, version: 1, state: "{}" };
      await expect(store.putSnapshot(snapshot, stale)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await store.getSnapshot("s1")).toBeUndefined();
      await store.putSnapshot(snapshot, lease);
      expect(await store.getSnapshot("s1")).toEqual(snapshot);
    });

    it("past the last fact are not stored", async () => {
      const lease = await writeSession("s1");
      await store.putSnapshot({ seq: 3, version: 1, state: "{}" }, lease);
      expect(await store.getSnapshot("s1")).toBeUndefined();
    });

    it("are deleted with their session", async () => {
      const lease = await writeSession("s1");
      await store.putSnapshot({ seq: 2, version: 1, state: "{}" }, lease);
      await store.release(lease);
      await store.remove("s1");
      await writeSession("s1");
      expect(await store.getSnapshot("s1")).toBeUndefined();
    });
  });
}
