import { beforeEach, describe, expect, it } from "vitest";
import type { Lease, Store } from "../../runtime/store.ts";
import { acquireTestLease, createStartFact, createWarningFact, delay } from "./facts-for-suite.ts";

/** Leases: who may write to a session. */
export function leasesSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("leases", () => {
    it("are held by one owner at a time, and can be acquired after a release", async () => {
      const first = await acquireTestLease(store, "s1", "ann");
      expect(await store.lease("s1", "bob", 60_000)).toBeUndefined();
      await store.release(first);
      expect(await store.lease("s1", "bob", 60_000)).toMatchObject({ owner: "bob" });
    });

    it("expire when they are not renewed; the previous holder can no longer write (F74)", async () => {
      const stale = await acquireTestLease(store, "s1", "ann", 1);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const fresh = await acquireTestLease(store, "s1", "bob");
      expect(fresh.token).toBeGreaterThan(stale.token);
      expect(await store.renew(stale, 60_000)).toBe(false);
      await expect(
        store.append([createStartFact("s1", "r1")], { expected: 0, lease: stale }),
      ).rejects.toMatchObject({
        code: "lease_lost",
      });
      await store.release(stale);
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease: fresh });
    });

    it("stay valid while they are renewed", async () => {
      const lease = await acquireTestLease(store, "s1", "ann", 30);
      expect(await store.renew(lease, 60_000)).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 40));
      expect(await store.lease("s1", "bob", 60_000)).toBeUndefined();
    });

    it("that expired but were not taken over can still be used and renewed (F75)", async () => {
      const lease = await acquireTestLease(store, "s1", "ann", 1);
      await delay(10);
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      expect(await store.renew(lease, 60_000)).toBe(true);
      expect(await store.lease("s1", "bob", 60_000)).toBeUndefined();
    });

    it("can be taken over while they are valid, which fences off the holder (F74)", async () => {
      const paused = await acquireTestLease(store, "s1", "ann");
      const lease = await store.lease("s1", "bob", 60_000, { takeOver: true });
      expect(lease).toMatchObject({ owner: "bob", wasHeld: true });
      expect(lease?.token).toBeGreaterThan(paused.token);
      expect(await store.renew(paused, 60_000)).toBe(false);
      const facts = [createStartFact("s1", "r1")];
      await expect(store.append(facts, { expected: 0, lease: paused })).rejects.toMatchObject({
        code: "lease_lost",
      });
      if (lease) await store.append(facts, { expected: 0, lease });
    });

    it("tell whether the former holder released them (F75)", async () => {
      const first = await acquireTestLease(store, "s1", "ann");
      expect(first.wasHeld).toBeUndefined();
      await store.release(first);
      const second = await acquireTestLease(store, "s1", "bob", 1);
      expect(second.wasHeld).toBeUndefined();
      await delay(10);
      expect(await acquireTestLease(store, "s1", "cleo")).toMatchObject({ wasHeld: true });
    });

    it("have tokens that grow with each holder, also after a release and a removal; an old token never writes (F74)", async () => {
      const leases = [await acquireTestLease(store, "s1", "ann")];
      for (const owner of ["bob", "ann", "ann"]) {
        await store.append([createWarningFact("s1", "r1", owner)], {
          expected: 0,
          lease: leases.at(-1) as Lease,
        });
        await store.release(leases.at(-1) as Lease);
        await store.remove("s1");
        leases.push(await acquireTestLease(store, "s1", owner));
      }
      const tokens = leases.map(({ token }) => token);
      expect(tokens).toEqual([...new Set(tokens)].sort((left, right) => left - right));
      for (const lease of leases.slice(0, -1)) {
        const late = store.append([createStartFact("s1", "r1")], { expected: 0, lease });
        await expect(late).rejects.toMatchObject({ code: "lease_lost" });
        expect(await store.renew(lease, 60_000)).toBe(false);
      }
      expect(await store.read("s1")).toEqual([]);
    });

    it("are granted to one of many concurrent requests", async () => {
      const owners = Array.from({ length: 20 }, (_, index) => store.lease("s1", `owner ${index}`, 60_000));
      expect((await Promise.all(owners)).filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    it("cannot be used or renewed once released", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.release(lease);
      await store.release(lease);
      expect(await store.renew(lease, 60_000)).toBe(false);
      await expect(store.append([createStartFact("s1", "r1")], { expected: 0, lease })).rejects.toMatchObject(
        {
          code: "lease_lost",
        },
      );
    });
  });
}
