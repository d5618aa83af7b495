import { beforeEach, describe, expect, it } from "vitest";
import { defaultPolicy } from "../../policy.ts";
import type { Store } from "../../store.ts";
import {
  acquireTestLease,
  createFact,
  createMessageFact,
  createResultFact,
  createStartFact,
} from "./facts-for-suite.ts";

/** Full-text search. */
export function searchSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("searches", () => {
    beforeEach(async () => {
      const lines: Record<string, readonly string[]> = {
        pets: ["The quick brown fox", "the lazy dog sleeps", "A quick dog, and AND NEAR or not"],
        food: ["Ein Döner, brown bread", "naïve quick brown bread: 42 pieces", "Привет, мир"],
      };
      for (const [sessionId, texts] of Object.entries(lines))
        await store.append(
          [
            createStartFact(sessionId, sessionId),
            ...texts.map((text) => createMessageFact(sessionId, sessionId, text)),
          ],
          { expected: 0, lease: await acquireTestLease(store, sessionId) },
        );
    });
    const places = async (words: string, most = 50) =>
      (await store.search(words, { limit: most })).map(({ sessionId, seq }) => `${sessionId} ${seq}`).sort();

    it("finds facts that contain every word, in every session, regardless of case and order", async () => {
      expect(await places("quick")).toEqual(["food 3", "pets 2", "pets 4"]);
      expect(await places("BROWN quick")).toEqual(["food 3", "pets 2"]);
      expect(await places("quick lazy")).toEqual([]);
      expect(await places("döner")).toEqual(["food 2"]);
      expect(await places("мир привет")).toEqual(["food 4"]);
      expect(await places("42")).toEqual(["food 3"]);
      expect(await places("brow")).toEqual([]);
      expect(await places("quick", 2)).toHaveLength(2);
    });

    it("returns an excerpt around the match", async () => {
      const [found] = await store.search("lazy");
      expect(found).toEqual({ sessionId: "pets", seq: 3, excerpt: "the lazy dog sleeps" });
    });

    it("finds user input, steering messages and tool results", async () => {
      const input = [{ type: "user", content: "give me walnuts" }] as const;
      const facts = [
        createFact("s3", "r3", { type: "run_start", input, policy: defaultPolicy, timeZone: "UTC" }),
        createFact("s3", "r3", { type: "steered", entry: { type: "user", content: "hazelnuts instead" } }),
        createResultFact("s3", "r3", "peanuts are sold out"),
      ];
      await store.append(facts, { expected: 0, lease: await acquireTestLease(store, "s3") });
      expect(await places("walnuts")).toEqual(["s3 1"]);
      expect(await places("hazelnuts")).toEqual(["s3 2"]);
      expect(await places("peanuts")).toEqual(["s3 3"]);
    });

    it("treats operators as words, finds nothing for punctuation, and never throws (A95)", async () => {
      for (const nothing of [
        "",
        "  ",
        '"',
        "*",
        "()",
        "-",
        '"" ^ : + {}',
        "'; --",
        "\u0000",
        "\ud800",
        "%",
        "_",
      ])
        expect(await places(nothing)).toEqual([]);
      expect(await places("AND")).toEqual(["pets 4"]);
      expect(await places("near")).toEqual(["pets 4"]);
      for (const query of ["NEAR(quick dog)", "quick OR dog", "NOT quick", "text:quick", 'quick"', "quick*"])
        await store.search(query);
      expect(await places("quick* AND (dog)")).toEqual(["pets 4"]);
      expect(await places("text:quick")).toEqual([]);
      await store.search("w ".repeat(5_000));
    });
  });
}
