import { beforeEach, describe, expect, it } from "vitest";
import type { UnplacedFact } from "../../kernel/event.ts";
import type { SessionWriter, Store } from "../../runtime/store.ts";
import {
  acquireTestLease,
  createDoneFact,
  createMessageFact,
  createStartFact,
  createWaitingFact,
  createWarningFact,
} from "./facts-for-suite.ts";

/** Writing whole sessions. */
export function writingSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("writes a whole session", () => {
    const facts: readonly UnplacedFact[] = [
      createStartFact("s1", "r1", 5),
      createMessageFact("s1", "r1", "apricot"),
      createDoneFact("s1", "r1", 6),
      createStartFact("s1", "r2", 7),
      ...Array.from({ length: 600 }, (_, index) => createWarningFact("s1", "r2", `${index}`, 8)),
      createWaitingFact("s1", "r2", "0", 9),
    ];

    /** Everything that tells of the session, except its content. */
    async function listTraces(): Promise<unknown> {
      return [
        await store.getSession("s1"),
        (await store.list()).map(({ id }) => id),
        await store.read("s1"),
        await store.listRuns("s1"),
        (await store.listOrphans()).map(({ runId }) => runId),
        await store.search("apricot"),
        await store.getBlob("s1", "blob_1"),
      ];
    }
    const nothing = [undefined, [], [], [], [], [], undefined];

    it("that is visible when it is complete, with its facts, runs, words and blobs", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.writeSession({ lease, title: "mine" }, async ({ append, putBlob }) => {
        await append(facts.slice(0, 2));
        expect(await putBlob({ mediaType: "text/plain", data: "x" })).toBe("blob_1");
        await append(facts.slice(2, 500));
        expect(await listTraces()).toEqual(nothing);
        await append(facts.slice(500));
        expect(await listTraces()).toEqual(nothing);
      });
      expect(await store.getSession("s1")).toEqual({
        ...{ id: "s1", title: "mine", facts: facts.length, createdAt: 5, updatedAt: 9 },
      });
      expect(await store.read("s1")).toEqual(facts.map((fact, index) => ({ ...fact, seq: index + 1 })));
      expect(await store.listRuns("s1")).toMatchObject([
        { runId: "r1", sessionId: "s1", state: "ended", startedAt: 5, updatedAt: 6 },
        { runId: "r2", sessionId: "s1", state: "waiting", startedAt: 7, updatedAt: 9 },
      ]);
      expect(await store.search("apricot")).toMatchObject([{ sessionId: "s1", seq: 2 }]);
      expect(await store.getBlob("s1", "blob_1")).toMatchObject({ data: "x" });
      const next = createWarningFact("s1", "r2", "next", 10);
      expect(await store.append([next], { expected: facts.length, lease })).toMatchObject([{ code: "next" }]);
      await store.remove("s1");
      expect(await listTraces()).toEqual(nothing);
    });

    it("or nothing, if the writer rejects", async () => {
      const lease = await acquireTestLease(store, "s1");
      const write = async ({ append, putBlob }: SessionWriter) => {
        await putBlob({ mediaType: "text/plain", data: "x" });
        await append(facts);
        throw new Error("the source failed");
      };
      await expect(store.writeSession({ lease }, write)).rejects.toThrow("the source failed");
      expect(await listTraces()).toEqual(nothing);
      await store.writeSession({ lease }, ({ append }) => append(facts));
      expect(await store.getSession("s1")).toMatchObject({ facts: facts.length });
    });

    it("or nothing, if another owner has its lease or the session exists", async () => {
      const lease = await acquireTestLease(store, "s1");
      const stale = { ...lease, token: lease.token - 1_000 };
      const write = ({ append }: SessionWriter) => append(facts);
      await expect(store.writeSession({ lease: stale }, write)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await listTraces()).toEqual(nothing);
      await store.create("s1", "mine");
      await expect(store.writeSession({ lease }, write)).rejects.toMatchObject({ code: "position_conflict" });
      expect(await store.getSession("s1")).toMatchObject({ title: "mine", facts: 0 });
      expect(await store.listRuns("s1")).toEqual([]);
    });
  });
}
