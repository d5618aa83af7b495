import { beforeEach, describe, expect, it } from "vitest";
import type { StoredRequest } from "../../features/exact-requests/stored-request.ts";
import type { Store } from "../../runtime/store.ts";
import { acquireTestLease, createMessageFact, createStartFact } from "./facts-for-suite.ts";

/** Requests to models, which are stored with the facts. For stores that keep them. */
export function requestsSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  const createRequest = (number: number, turn: number, text: string, runId = "r1"): StoredRequest => ({
    ...{ number, seq: 1, first: 1, span: text.length, runId, turn, agent: "a", purpose: "answer", at: 5 },
    ...{ model: "acme/m", url: "https://acme.test/v1?alt=sse", method: "POST", headers: { accept: "*/*" } },
    ...(number > 1 && { base: number - 1 }),
    pieces: [text, [0, 3], { blob: "blob_1" }],
  });

  describe("requests", () => {
    it("are returned as stored, in the order of their numbers, by range, turn and from the end", async () => {
      const lease = await acquireTestLease(store, "s1");
      const first = [createRequest(1, 1, "\u0000 \ud800 é😀"), createRequest(2, 1, "")];
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease, requests: first });
      const later = [createRequest(3, 2, "x".repeat(300_000)), createRequest(4, 1, "b", "r\u0000 2")];
      await store.append([createMessageFact("s1", "r1", "hi")], { expected: 1, lease, requests: later });
      expect(await store.readRequests?.("s1")).toEqual([...first, ...later]);
      expect(await store.readRequests?.("s1", { from: 2, to: 3 })).toEqual([first[1], later[0]]);
      expect(await store.readRequests?.("s1", { turn: { runId: "r1", turn: 1 } })).toEqual(first);
      expect(await store.readRequests?.("s1", { turn: { runId: "r\u0000 2", turn: 1 } })).toEqual([later[1]]);
      expect(await store.readRequests?.("s1", { last: 2 })).toEqual(later);
      expect(await store.readRequests?.("s2")).toEqual([]);
      expect(await store.readRequests?.("s1", { turn: { runId: "r1", turn: 7 } })).toEqual([]);
    });

    it("are stored with their facts or not at all, and once if the write is repeated", async () => {
      const lease = await acquireTestLease(store, "s1");
      const facts = [createStartFact("s1", "r1")];
      const requests = [createRequest(1, 1, "once")];
      await store.append(facts, { expected: 0, lease, requests });
      const before = await store.measureSession("s1");
      await store.append(facts, { expected: 0, lease, requests });
      expect(await store.measureSession("s1")).toBe(before);
      const conflict = store.append([createMessageFact("s1", "r1", "late")], {
        ...{ expected: 0, lease, requests: [createRequest(2, 1, "never")] },
      });
      await expect(conflict).rejects.toMatchObject({ code: "position_conflict" });
      const stale = { ...lease, token: lease.token - 1 };
      const lost = store.append([createMessageFact("s1", "r1", "lost")], {
        ...{ expected: 1, lease: stale, requests: [createRequest(2, 1, "never")] },
      });
      await expect(lost).rejects.toMatchObject({ code: "lease_lost" });
      expect(await store.readRequests?.("s1")).toEqual(requests);
    });

    it("count for the size of the session, and are deleted with it", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      const before = await store.measureSession("s1");
      const requests = Array.from({ length: 30 }, (_, index) =>
        createRequest(index + 1, 1, "y".repeat(1000)),
      );
      await store.append([createMessageFact("s1", "r1", "hi")], { expected: 1, lease, requests });
      expect(await store.measureSession("s1")).toBeGreaterThan(before + 30_000);
      await store.release(lease);
      await store.remove("s1");
      expect(await store.readRequests?.("s1")).toEqual([]);
      const again = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease: again });
      expect(await store.readRequests?.("s1")).toEqual([]);
    });

    it("are written with a new session", async () => {
      const lease = await acquireTestLease(store, "s3");
      const requests = [createRequest(1, 1, "copied"), createRequest(2, 2, "too")];
      await store.writeSession({ lease }, async (writer) => {
        await writer.append([createStartFact("s3", "r1")]);
        await writer.putRequests?.(requests);
      });
      expect(await store.readRequests?.("s3")).toEqual(requests);
    });
  });
}
