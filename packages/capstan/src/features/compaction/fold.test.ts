import { array, assert, constantFrom, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Entry, getCalls, type ResultEntry } from "../../kernel/history.ts";
import { findRecentTurnsStart, shortenResult, trimHistory } from "./fold.ts";

const user = (content = "?"): Entry => ({ type: "user", content });
const assistantText = (text = "."): Entry => ({ type: "assistant", parts: [{ type: "text", text }] });
const assistantCalls = (...ids: string[]): Entry => ({
  type: "assistant",
  parts: ids.map((id) => ({ type: "call", id, name: "look", input: {} })),
});
const result = (callId: string, more: Partial<ResultEntry> = {}): Entry => ({
  type: "result",
  callId,
  name: "look",
  status: "ok",
  content: "Seen.",
  ...more,
});
const turn = (id: string): Entry[] => [
  assistantCalls(`${id}a`, `${id}b`),
  result(`${id}a`),
  result(`${id}b`),
];
const summary: Entry = { type: "summary", text: "Before." };

describe("trimHistory", () => {
  const three = [user("1"), assistantText(), user("2"), ...turn("x"), assistantText(), user("3")];

  it.each([
    ["everything within the limit", 7, three],
    ["no start between a call and its results", 6, three.slice(2)],
    ["the last exchange whole, even if it is longer", 1, three.slice(2)],
  ])("keeps %s (S2-32, S2-49, C-11)", (_, limit, kept) => {
    expect(trimHistory(three, limit)).toEqual(kept);
  });

  it("keeps summaries at the front, and does not count them", () => {
    expect(trimHistory([summary, ...three], 5)).toEqual([summary, ...three.slice(2)]);
  });

  it("starts at a user message and keeps each call with its results, for any history and limit (S2-32, S2-49, C-11)", () => {
    const pieces = constantFrom<"user" | "text" | "turn">("user", "text", "turn");
    assert(
      property(array(pieces, { maxLength: 30 }), integer({ min: 1, max: 12 }), (kinds, limit) => {
        const history = [
          user("first"),
          ...kinds.flatMap((kind, n) =>
            kind === "user" ? [user()] : kind === "text" ? [assistantText()] : turn(`${n}`),
          ),
          user("now"),
        ];
        const kept = trimHistory(history, limit);
        expect(kept[0]?.type).toBe("user");
        expect(history.slice(-kept.length)).toEqual(kept);
        expectWhole(kept);
        const lastExchange =
          history.length - 1 - history.slice(0, -1).findLastIndex(({ type }) => type === "user");
        expect(kept.length - 1).toBeLessThanOrEqual(Math.max(limit, lastExchange));
      }),
    );
  });
});

function expectWhole(history: readonly Entry[]): void {
  let open: string[] = [];
  for (const entry of history) {
    if (entry.type === "result") expect(entry.callId).toBe(open.shift());
    else {
      expect(open).toEqual([]);
      open = entry.type === "assistant" ? getCalls(entry).map(({ id }) => id) : [];
    }
  }
  expect(open).toEqual([]);
}

describe("findRecentTurnsStart", () => {
  it.each<[string, Entry[], number]>([
    ["is 0 for an empty history", [], 0],
    ["is 0 for a short history", [user(), ...turn("a")], 0],
    ["includes calls and results", [user(), ...turn("a"), ...turn("b"), ...turn("c")], 4],
    [
      "includes the user messages before them",
      [user(), assistantText(), user(), user(), assistantText(), user(), assistantText(), user()],
      2,
    ],
  ])("%s (S2-32)", (_, history, from) => {
    expect(findRecentTurnsStart(history)).toBe(from);
  });
});

describe("shortenResult", () => {
  const long = `First line.\n${"more ".repeat(100)}`;

  it.each<[string, Partial<ResultEntry>, string]>([
    ["the tool's message", { content: long, message: "40 rows." }, "40 rows. … (shortened)"],
    ["its first line", { content: long }, "First line. … (shortened)"],
    ["the start of a long line", { content: "x".repeat(1000) }, `${"x".repeat(200)} … (shortened)`],
    [
      "how to read the rest",
      { content: long, handle: "h1" },
      'First line. … (shortened; read_result { "handle": "h1" } has all of it)',
    ],
    [
      "how to read what was kept",
      { content: long, handle: "h1", isPartial: true },
      'First line. … (shortened; read_result { "handle": "h1" } has what was kept of it; the rest was too large)',
    ],
    [
      "a name for what is no text",
      { content: [{ type: "image", mediaType: "image/png" }] },
      "[image image/png] … (shortened)",
    ],
    ["the original if that is shorter", { content: "Seen." }, "Seen."],
  ])("is %s (S2-31)", (_, more, content) => {
    expect(shortenResult(result("a", more))).toMatchObject({
      callId: "a",
      name: "look",
      status: "ok",
      content,
    });
  });

  it("is idempotent, and does not split a character", () => {
    const once = shortenResult(result("a", { content: `${"x".repeat(199)}😀${"y".repeat(100)}` }));
    expect(shortenResult(once)).toBe(once);
    expect(JSON.stringify(once)).not.toContain("\\ud83d");
  });

  it("does not change messages of the user and the model", () => {
    for (const entry of [user(long), assistantText(long), summary]) expect(shortenResult(entry)).toBe(entry);
  });
});
