import fc from "fast-check";
import { expect, it } from "vitest";
import type { UnplacedFact } from "../../kernel/event.ts";
import type { Store } from "../../runtime/store.ts";
import { memory } from "../memory.ts";
import { sqlite } from "./sqlite.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";

// Few words, so that they meet; letters that case, accents and lack of a Latin alphabet make difficult.
const word = fc.constantFrom(
  "a",
  "B",
  "é",
  "E\u0301",
  "İ",
  "ß",
  "Ω",
  "中文",
  "ह",
  "हि",
  "𝒳",
  "٣",
  "-",
  '"',
  "NOT",
  "x:y",
  "\ud800",
  "\u0000",
);
const text = fc
  .array(fc.oneof({ weight: 4, arbitrary: word }, fc.string({ unit: "binary" })))
  .map((words) => words.join(" "));

it("finds the same results as the memory store for any query (A95)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { maxLength: 8 }),
      fc.array(text, { maxLength: 4 }),
      async (said, questions) => {
        const stores = [memory(), sqlite(":memory:")];
        for (const store of stores) await fill(store, said);
        for (const question of [...questions, ...said]) {
          const [expected, found] = await Promise.all(
            stores.map(async (store) => {
              const hits = await store.search(question, { limit: 1_000 });
              return hits.toSorted((left, right) => left.seq - right.seq);
            }),
          );
          expect(found).toEqual(expected);
        }
        for (const store of stores) await store.close();
      },
    ),
    { numRuns: 60 },
  );
});

it("shows the best places first", async () => {
  const store = sqlite(":memory:");
  await fill(store, [`${"hay ".repeat(500)} needle`, "needle, needle!", ...Array(9).fill("hay")]);
  expect((await store.search("needle")).map(({ seq }) => seq)).toEqual([2, 1]);
  await store.close();
});

it("encodes different texts differently, and decodes each one", () => {
  const any = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', "\u0000", "\ud800", "\\", "a") }),
  );
  fc.assert(
    fc.property(any, any, (left, right) => {
      expect(fromStoredText(encodeText(left))).toBe(left);
      expect(encodeText(left) === encodeText(right)).toBe(left === right);
      expect(encodeText(left).isWellFormed() && !encodeText(left).includes("\u0000")).toBe(true);
    }),
  );
});

async function fill(store: Store, said: readonly string[]): Promise<void> {
  const lease = await store.lease("s", "ann", 60_000);
  if (!lease) throw new Error("no lease");
  const facts = said.map((content, index): UnplacedFact => {
    const origin = { runId: "r", sessionId: "s", agent: "a", turn: 0, at: 0, id: `${index}` };
    return { type: "steered", entry: { type: "user", content }, ...origin };
  });
  await store.append(facts, { expected: 0, lease });
}
