import { beforeEach, describe, expect, it } from "vitest";
import { getScope } from "../../kernel/session-id.ts";
import type { ListOptions, Store } from "../../runtime/store.ts";
import { acquireTestLease, createMessageFact, createStartFact } from "./facts-for-suite.ts";

// Scopes that are similar in case, Unicode form, pattern syntax, storage encoding, or byte order.
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

/** Scopes: sessions of several users in one store. */
export function scopesSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("scopes", () => {
    /** Creates a session with one message at the given time. */
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

    it("list exactly the sessions whose ids start with them, byte by byte (A95, A119)", async () => {
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

    it("are applied before the limit, so that other users do not take up places (A95)", async () => {
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

    it("are the text before the first `~`, or empty", () => {
      expect(["ann~s", "s", "~s", "ann~bob~s", ""].map(getScope)).toEqual(["ann", "", "", "ann", ""]);
    });
  });
}
