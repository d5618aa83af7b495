import { beforeEach, describe, expect, it } from "vitest";
import { changeMemories, listMemories, loadMemories, removeMemories } from "../../memories/index.ts";
import type { Store } from "../../runtime/store.ts";

const owner = { user: "ada", scope: "user" };

/** Memories, which are records. */
export function memoriesSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("memories", () => {
    it("lose no change of concurrent writers, and apply a repeated call once (F73, F74)", async () => {
      const write = (index: number) =>
        changeMemories(store, owner, {
          change: ([memory]) => [
            { path: "/memories/a.md", text: `${memory?.text ?? ""}${index % 10}`, provenance: "user" },
          ],
          now: index,
          idempotencyKey: `call ${index % 10}`, // every change arrives twice
        });
      await Promise.all(Array.from({ length: 20 }, (_, index) => write(index)));
      const [memory] = await loadMemories(store, owner);
      expect([...(memory?.text ?? "")].sort().join("")).toBe("0123456789");
      expect(memory?.version).toBe(10);
    });

    it("are found by the beginnings of their words, and deleted with all their versions", async () => {
      const text = "Orders a Café crème.";
      const change = () => [{ path: "/memories/a.md", text, provenance: "user" } as const];
      await changeMemories(store, owner, { change, now: 1 });
      expect(await listMemories(store, "ada", { query: "CREME caf" })).toMatchObject([{ excerpt: text }]);
      expect(await removeMemories(store, "ada")).toBe(1);
      expect(await store.listRecords("memory:ada")).toEqual([]);
      expect(await store.listRecordVersions("memory:ada", "user")).toEqual([]);
    });
  });
}
