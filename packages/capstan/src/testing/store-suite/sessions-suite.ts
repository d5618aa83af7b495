import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../runtime/store.ts";
import {
  acquireTestLease,
  createMessageFact,
  createStartFact,
  createSteerMessage,
  createWarningFact,
  delay,
} from "./facts-for-suite.ts";

/** Listing, naming and removing sessions. */
export function sessionsSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("lists and removes", () => {
    it("lists sessions, newest first", async () => {
      await store.append([createStartFact("old", "r1", 1000)], {
        expected: 0,
        lease: await acquireTestLease(store, "old"),
      });
      await store.append([createStartFact("new", "r2", 2000), createWarningFact("new", "r2", "a", 3000)], {
        expected: 0,
        lease: await acquireTestLease(store, "new"),
      });
      expect(await store.list()).toEqual([
        { id: "new", facts: 2, createdAt: 2000, updatedAt: 3000 },
        { id: "old", facts: 1, createdAt: 1000, updatedAt: 1000 },
      ]);
    });

    it("sets and removes the title of a session", async () => {
      await store.append([createStartFact("s1", "r1", 5)], {
        expected: 0,
        lease: await acquireTestLease(store, "s1"),
      });
      const info = { id: "s1", facts: 1, createdAt: 5, updatedAt: 5 };
      await store.rename("s1", "A trip to \u0000 Köln \ud83d\ude80");
      expect(await store.list()).toEqual([{ ...info, title: "A trip to \u0000 Köln \ud83d\ude80" }]);
      await store.append([createWarningFact("s1", "r1", "a", 6)], {
        expected: 1,
        lease: await acquireTestLease(store, "s1"),
      });
      expect(await store.list()).toMatchObject([{ title: "A trip to \u0000 Köln \ud83d\ude80", facts: 2 }]);
      await store.rename("s1", "");
      expect(await store.list()).toEqual([{ ...info, facts: 2, updatedAt: 6 }]);
      await store.rename("nobody", "x");
      expect(await store.list()).toHaveLength(1);
    });

    it("removes all data of a session, and none of another", async () => {
      const lease = await acquireTestLease(store, "s1");
      for (const id of ["s1", "s2"]) {
        await store.append([createStartFact(id, `r-${id}`), createMessageFact(id, `r-${id}`, "apricot")], {
          expected: 0,
          lease: await acquireTestLease(store, id),
        });
        await store.putBlob(id, { mediaType: "text/plain", data: id });
        await store.rename(id, id);
        await store.sendMessage(`r-${id}`, { key: "k", type: "steer", text: "x" });
      }
      const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "x" });
      await store.remove("s1");
      expect(await store.read("s1")).toEqual([]);
      expect(await store.listRuns("s1")).toEqual([]);
      expect(await store.findSession("r-s1")).toBeUndefined();
      expect(await store.getBlob("s1", handle)).toBeUndefined();
      expect(await store.listMessages("r-s1")).toEqual([]);
      await expect(store.sendMessage("r-s1", createSteerMessage("k"))).rejects.toMatchObject({
        code: "unknown_run",
      });
      expect((await store.list()).map(({ id }) => id)).toEqual(["s2"]);
      expect((await store.search("apricot")).map(({ sessionId }) => sessionId)).toEqual(["s2"]);
      expect(await store.listMessages("r-s2")).toHaveLength(1);
      // A late writer does not restore part of the session.
      await expect(
        store.append([createWarningFact("s1", "r-s1", "a")], { expected: 2, lease }),
      ).rejects.toThrow();
      await store.remove("s1");
      await store.remove("nobody");
    });

    it("a removed session can be recreated under its id", async () => {
      await store.append([createStartFact("s1", "r1"), createMessageFact("s1", "r1", "old")], {
        expected: 0,
        lease: await acquireTestLease(store, "s1"),
      });
      await store.sendMessage("r1", createSteerMessage("k"));
      await store.remove("s1");
      await store.append([createStartFact("s1", "r1", 7)], {
        expected: 0,
        lease: await acquireTestLease(store, "s1"),
      });
      expect(await store.list()).toEqual([{ id: "s1", facts: 1, createdAt: 7, updatedAt: 7 }]);
      expect(await store.listMessages("r1")).toEqual([]);
      await store.sendMessage("r1", createSteerMessage("k"));
      expect(await store.listMessages("r1")).toHaveLength(1);
      expect(await store.search("old")).toEqual([]);
    });
  });

  describe("a session without facts", () => {
    it("is created once, with or without a title, and listed with its creation time", async () => {
      const before = Date.now() - 60_000;
      await store.create("s1", "A trip to \u0000 Köln");
      await store.create("s2");
      const first = await store.getSession("s1");
      expect(first).toMatchObject({ id: "s1", title: "A trip to \u0000 Köln", facts: 0 });
      expect(first?.createdAt).toBeGreaterThan(before);
      expect(first?.updatedAt).toBe(first?.createdAt);
      expect(await store.getSession("s2")).toEqual({
        ...{ id: "s2", facts: 0, createdAt: expect.any(Number), updatedAt: expect.any(Number) },
      });
      await delay(5);
      await store.create("s1", "another");
      expect(await store.getSession("s1")).toEqual(first);
      expect((await store.list()).map(({ id }) => id).sort()).toEqual(["s1", "s2"]);
      expect(await store.read("s1")).toEqual([]);
      expect(await store.listRuns("s1")).toEqual([]);
    });

    it("keeps its title when a run starts, and then has the times of its facts", async () => {
      await store.create("s1", "mine");
      await store.append([createStartFact("s1", "r1", 5), createWarningFact("s1", "r1", "a", 7)], {
        expected: 0,
        lease: await acquireTestLease(store, "s1"),
      });
      const info = { id: "s1", title: "mine", facts: 2, createdAt: 5, updatedAt: 7 };
      expect(await store.getSession("s1")).toEqual(info);
      await store.create("s1", "late");
      expect(await store.list()).toEqual([info]);
    });

    it("is renamed and removed like any other, and concurrent creation creates one", async () => {
      await Promise.all(Array.from({ length: 10 }, (_, index) => store.create("s1", `${index}`)));
      expect(await store.list()).toHaveLength(1);
      await store.rename("s1", "mine");
      expect(await store.getSession("s1")).toMatchObject({ title: "mine" });
      await store.remove("s1");
      expect(await store.getSession("s1")).toBeUndefined();
      expect(await store.list()).toEqual([]);
    });

    it("is not created by a blob that precedes its facts, and has the blob once it is created", async () => {
      const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "x" });
      expect(await store.getSession("s1")).toBeUndefined();
      expect(await store.list()).toEqual([]);
      await store.create("s1", "mine");
      expect(await store.list()).toMatchObject([{ id: "s1", title: "mine", facts: 0 }]);
      expect(await store.getBlob("s1", handle)).toMatchObject({ data: "x" });
    });

    it("that was never created does not exist, whatever its id", async () => {
      for (const id of ["nobody", "", "__proto__", "\u0000", "%", "S1"])
        expect(await store.getSession(id)).toBeUndefined();
    });
  });

  describe("a list", () => {
    it("has up to the requested number of sessions, newest first", async () => {
      for (const [index, id] of ["a", "b", "c"].entries())
        await store.append([createStartFact(id, `r-${id}`, index + 1)], {
          expected: 0,
          lease: await acquireTestLease(store, id),
        });
      const listed = async (most: number) => (await store.list({ limit: most })).map(({ id }) => id);
      expect(await listed(2)).toEqual(["c", "b"]);
      expect(await listed(2.9)).toEqual(["c", "b"]);
      for (const none of [0, -1, Number.NaN]) expect(await listed(none)).toEqual([]);
      for (const all of [3, 1e12, Number.POSITIVE_INFINITY]) expect(await listed(all)).toHaveLength(3);
    });

    it("continues after any session of it, also among sessions of the same time, in every scope", async () => {
      const ids = ["ann~a", "ann~b", "ann~\u0000", "ann~c", "bob~a", "b", "a", '"'];
      for (const [index, id] of ids.entries())
        await store.append([createStartFact(id, `r-${id}`, 1 + Math.floor(index / 3))], {
          expected: 0,
          lease: await acquireTestLease(store, id),
        });
      for (const scope of [undefined, "ann", "bob", "", "nobody"]) {
        const inScope = scope === undefined ? {} : { scope };
        const all = await store.list(inScope);
        for (const size of [1, 2, 3, 100]) {
          const pages: (typeof all)[] = [];
          do {
            const after = pages.at(-1)?.at(-1);
            pages.push(await store.list({ ...inScope, limit: size, ...(after && { after }) }));
          } while (pages.at(-1)?.length === size);
          expect(pages.flat()).toEqual(all);
        }
      }
      expect(await store.list({ after: { id: "", updatedAt: 2 }, scope: "ann" })).toHaveLength(4);
      expect(await store.list({ after: { id: "", updatedAt: 1.5 }, scope: "ann" })).toHaveLength(3);
      expect(await store.list({ after: { id: "", updatedAt: 0 } })).toEqual([]);
    });

    it("measures a session by its facts and blobs", async () => {
      const lease = await acquireTestLease(store, "s1");
      expect(await store.measureSession("s1")).toBe(0);
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      const empty = await store.measureSession("s1");
      expect(empty).toBeGreaterThan(100);
      await store.append([createMessageFact("s1", "r1", "é".repeat(5_000))], { expected: 1, lease });
      await store.putBlob("s1", { mediaType: "text/plain", data: "é".repeat(1_000) });
      await store.putBlob("s1", { mediaType: "a/b", data: new Uint8Array(500) });
      const size = (await store.measureSession("s1")) - empty;
      expect(size).toBeGreaterThanOrEqual(12_500);
      expect(size).toBeLessThan(13_500);
      await store.remove("s1");
      expect(await store.measureSession("s1")).toBe(0);
    });

    it("measures a scope and lists the largest sessions, whoever they belong to", async () => {
      expect(await store.measureScope("ann")).toEqual({ sessions: 0, bytes: 0 });
      for (const [id, length] of [
        ["ann~1", 10],
        ["ann~2", 9_000],
        ["anna~1", 3_000],
        ["own", 5_000],
      ] as const) {
        const lease = await acquireTestLease(store, id);
        await store.append([createStartFact(id, `run ${id}`)], { expected: 0, lease });
        await store.append([createMessageFact(id, `run ${id}`, "x".repeat(length))], { expected: 1, lease });
      }
      await store.create("ann~3");
      await store.putBlob("ann~1", { mediaType: "a/b", data: new Uint8Array(50_000) });
      const sizes = await Promise.all(["ann~1", "ann~2"].map((id) => store.measureSession(id)));
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      expect(await store.measureScope("ann")).toEqual({ sessions: 3, bytes });
      expect((await store.measureScope("")).sessions).toBe(1);
      const largest = await store.listLargest(3);
      expect(largest.map(({ id }) => id)).toEqual(["ann~1", "ann~2", "own"]);
      expect(largest[0]).toEqual({ ...(await store.getSession("ann~1")), bytes: sizes[0] });
      await store.remove("ann~1");
      expect(await store.measureScope("ann")).toEqual({ sessions: 2, bytes: sizes[1] });
      expect((await store.listLargest(1)).map(({ id }) => id)).toEqual(["ann~2"]);
    });
  });
}
