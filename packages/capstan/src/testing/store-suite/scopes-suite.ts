import { beforeEach, describe, expect, it } from "vitest";
import { getScope, type ListOptions, type Store } from "../../store.ts";
import { acquireTestLease, createMessageFact, createStartFact } from "./facts-for-suite.ts";

// Alike by case, by form, by what a pattern matches, by how a store may keep it, and by what is next to it in bytes.
const scopes = [
  ...[
    "",
    "a",
    "ab",
    "A",
    "%",
    "_",
    "a%",
    "'",
    '"',
    '"a',
    "\\",
    "\\u0000",
    "é",
    "e\u0301",
    "\u007f",
    "a\u007f",
  ],
  ...["a}", "a\u0000", "\u0000", "\ud800", "\udfff", "\ufffd", "\ud83d\ude80", "\u{10ffff}", "__proto__"],
];
const rests = ["x", "~", "~~y", "\u0000", "\ud800", '"', ""];

/** How sessions of several users share a store. */
export function scopesSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("scopes", () => {
    /** A session with something said, at a time. */
    async function talk(sessionId: string, at: number): Promise<void> {
      const runId = `run of ${sessionId}`;
      const facts = [
        createStartFact(sessionId, runId, at),
        { ...createMessageFact(sessionId, runId, "apricot"), at },
      ];
      const lease = await acquireTestLease(store, sessionId);
      await store.append(facts, { expected: 0, lease });
    }
    const listed = async (options?: ListOptions) => (await store.list(options)).map(({ id }) => id);
    const found = async (options?: ListOptions) =>
      (await store.search("apricot", { limit: 1_000, ...options })).map(({ sessionId }) => sessionId);

    it("show the sessions whose ids begin with them, byte by byte, and no other (A95, A119)", async () => {
      const ids = scopes.flatMap((scope) => rests.map((rest) => `${scope}~${rest}`));
      const all = [...new Set([...ids, ...scopes.map((scope) => `${scope}x`)])];
      for (const [at, id] of all.entries()) await talk(id, at + 1);
      for (const scope of [...scopes, "x", "a~", "a~x", "~", "b", "a%x", "\u0000a", "\ud83d"]) {
        const own = all.filter((id) => getScope(id) === scope);
        expect(await listed({ scope })).toEqual(own.toReversed());
        expect((await found({ scope })).sort()).toEqual(own.sort());
      }
      expect((await listed()).sort()).toEqual(all.toSorted());
      expect((await found()).sort()).toEqual(all.toSorted());
    }, 30_000);

    it("are looked at before the number is: others do not take one's places (A95)", async () => {
      await talk("ann~old", 1);
      for (let at = 2; at < 60; at++) await talk(`bob~${at}`, at);
      await talk("ann~new", 60);
      expect(await listed({ scope: "ann", limit: 2 })).toEqual(["ann~new", "ann~old"]);
      expect(await listed({ scope: "ann", limit: 1 })).toEqual(["ann~new"]);
      expect(
        (await store.search("apricot", { scope: "ann" })).map(({ sessionId }) => sessionId).sort(),
      ).toEqual(["ann~new", "ann~old"]);
      expect(await found({ scope: "ann", limit: 1 })).toHaveLength(1);
      expect(await found({ scope: "bob" })).toHaveLength(58);
    });

    it("are the text before the first `~`, or nothing", () => {
      expect(["ann~s", "s", "~s", "ann~bob~s", ""].map(getScope)).toEqual(["ann", "", "", "ann", ""]);
    });
  });
}
