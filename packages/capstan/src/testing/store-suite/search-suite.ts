import { beforeEach, describe, expect, it } from "vitest";
import { defaultPolicy } from "../../kernel/policy.ts";
import type { Store } from "../../runtime/store.ts";
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
      expect(await places("quick", 2)).toHaveLength(2);
    });

    it("finds words by their beginning, but not by a part of them", async () => {
      expect(await places("brow")).toEqual(["food 2", "food 3", "pets 2"]);
      expect(await places("B pie")).toEqual(["food 3"]);
      expect(await places("q la")).toEqual([]);
      expect(await places("rown")).toEqual([]);
      expect(await places("browns")).toEqual([]);
      expect(await places("4")).toEqual(["food 3"]);
    });

    it("ignores case, accents and presentation forms, in the text and in the query", async () => {
      for (const query of ["DONER", "do\u0308ner", "Döner", "ｄｏｎｅｒ"])
        expect(await places(query)).toEqual(["food 2"]);
      expect(await places("NAIVE")).toEqual(["food 3"]);
      const texts = ["Straße nach İzmir", "ΟΔΟΣ", "Crème Brûlée", "हिन्दी"];
      await store.append(
        texts.map((text) => createMessageFact("s3", "r3", text)),
        { expected: 0, lease: await acquireTestLease(store, "s3") },
      );
      for (const query of ["strasse", "STRAS", "straße izmir", "ızmir"])
        expect(await places(query)).toEqual(["s3 1"]);
      for (const query of ["οδος", "οδοσ", "Όδος"]) expect(await places(query)).toEqual(["s3 2"]);
      expect(await places("creme brulee")).toEqual(["s3 3"]);
      expect(await places("हिन्")).toEqual(["s3 4"]);
      const [found] = await store.search("brulee");
      expect(found).toEqual({ sessionId: "s3", seq: 3, excerpt: "Crème Brûlée" });
    });

    it("puts the best match first: a short text with the whole word", async () => {
      const texts = [`needle ${"hay ".repeat(500)}`, "needles everywhere", "needle, needle!"];
      await store.append(
        texts.map((text) => createMessageFact("s3", "r3", text)),
        { expected: 0, lease: await acquireTestLease(store, "s3") },
      );
      expect((await store.search("needle")).map(({ seq }) => seq)).toEqual([3, 2, 1]);
      expect((await store.search("needle", { limit: 1 })).map(({ seq }) => seq)).toEqual([3]);
    });

    it("finds a rare match behind many newer facts, and enough of a frequent word", async () => {
      const lease = await acquireTestLease(store, "s3");
      const facts = Array.from({ length: 1_200 }, (_, index) =>
        createMessageFact("s3", "r3", `${index} filler${index === 3 ? " zebra" : ""}`),
      );
      await store.append(facts, { expected: 0, lease });
      expect(await places("zeb")).toEqual(["s3 4"]);
      expect(await places("fill zeb")).toEqual(["s3 4"]);
      expect(await places("fill")).toHaveLength(50);
      expect(await places("brown filler")).toEqual([]);
      expect((await store.search("zeb", { scope: "ann" })).length).toBe(0);
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
