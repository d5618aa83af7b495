import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../../kernel/history.ts";
import { findPrefixChange, type RequestPrefix } from "./prefix-change.ts";

const tool = (name: string, description = name) => ({ name, description, input: { type: "object" } });
const base: RequestPrefix = {
  model: "anthropic/m",
  tools: [tool("a"), tool("b"), tool("c")],
  instructions: "Be brief.",
  settings: '{"toolChoice":"auto"}',
  history: [
    { type: "user", content: "Hi" },
    { type: "result", callId: "c1", name: "a", content: "long text", status: "ok" },
    { type: "user", content: "And?" },
  ],
};
const compare = (change: Partial<RequestPrefix>) => findPrefixChange(base, { ...base, ...change });
const compareTexts = (before: string, after: string) =>
  findPrefixChange({ ...base, instructions: before }, { ...base, instructions: after });

describe("the change of a prefix", () => {
  it("is none if the next request only adds to the history, also with equal copies", () => {
    const next: Entry[] = [...base.history, { type: "user", content: "More." }];
    expect(compare({ history: next })).toBeUndefined();
    expect(findPrefixChange(base, structuredClone({ ...base, history: next }))).toBeUndefined();
  });

  it.each([
    [[tool("a"), tool("b")], "The tools changed: removed c."],
    [[tool("a"), tool("x"), tool("b"), tool("c")], "The tools changed: added x."],
    [[tool("a"), tool("b", "new"), tool("x")], "The tools changed: added x, removed c, changed b."],
    [[tool("b"), tool("a"), tool("c")], "The tools are in a different order: b is now before a."],
  ])("names the tools that differ", (tools, message) => {
    expect(compare({ tools })).toEqual({ cause: "tools", message });
  });

  it.each([
    ["Today is Monday, 16 November.", "Today is Tuesday, 17 November.", "a date or time"],
    ["Now: 2026-11-16T14:01:07Z. Be kind.", "Now: 2026-11-16T14:02:11Z. Be kind.", "a date or time"],
    ["It is 9:59 now", "It is 10:00 now", "a date or time"],
    ["At 1763300000 s", "At 1763300061 s", "a date or time"],
    ["Nov 9, hello", "Nov 10, hello", "a date or time"],
    ["Request 0f8fad5b-d9cb-469f-a165-70867728950e", "Request 7c9e6679-7425-40de-944b-e07fc1f90ae7", "an id"],
    ["You have 41 messages.", "You have 42 messages.", "a number"],
  ])("recognizes %j", (before, after, kind) => {
    expect(compareTexts(before, after)?.message).toContain(`differ in ${kind} from character`);
  });

  it("quotes the first difference, shortened", () => {
    const [before, after] = [0, 1].map(
      (count) => `${"x ".repeat(500)}cats ${count ? "and" : "or"} dogs ${"y ".repeat(500)}`,
    );
    expect(compareTexts(before ?? "", after ?? "")).toEqual({
      cause: "instructions",
      message: "The instructions differ from character 1006 on.",
      quotes: {
        before: '"… x x x x x x x cats or dogs y y y y y y y y y y y y y y y y …"',
        after: '"… x x x x x x x cats and dogs y y y y y y y y y y y y y y y y…"',
      },
    });
  });

  it.each<[string, readonly Entry[], string]>([
    ["summary", [{ type: "summary", text: "…" }], "Entry 1 and later ones were replaced by a summary."],
    [
      "result",
      base.history.with(1, { type: "result", callId: "c1", name: "a", content: "long…", status: "ok" }),
      "The result of a in entry 2 was shortened or replaced.",
    ],
    ["entry", base.history.with(0, { type: "user", content: "Ho" }), "Entry 1 of the history was changed."],
    ["end", base.history.slice(0, 2), "Entry 3 of the history was removed."],
  ])("names the changed %s of the history", (_, history, message) => {
    expect(compare({ history })).toEqual({ cause: "history", message });
  });

  it("reports the part that comes first in a request", () => {
    const all = { model: "m2", tools: [], instructions: "", settings: "{}", history: [] };
    const causes = (["model", "tools", "instructions", "settings", "history"] as const).map(
      (_, index, names) =>
        compare(Object.fromEntries(names.slice(index).map((name) => [name, all[name]])))?.cause,
    );
    expect(causes).toEqual(["model", "tools", "instructions", "settings", "history"]);
  });
});

const texts = fc.string({ unit: "binary", maxLength: 60 });
const entries = fc.array(
  texts.map((content): Entry => ({ type: "user", content })),
  { maxLength: 6 },
);
const tools = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 4 });
const prefixes = fc.record({ instructions: texts, history: entries, names: tools });

describe("for random requests", () => {
  const build = ({
    instructions,
    history,
    names,
  }: {
    instructions: string;
    history: Entry[];
    names: string[];
  }) => ({
    ...base,
    ...{ instructions, history, tools: names.map((name) => tool(name)) },
  });

  it("a change is found exactly if the first is not the start of the second", () => {
    fc.assert(
      fc.property(prefixes, prefixes, (left, right) => {
        const [before, after] = [build(left), build(right)];
        const isStart =
          left.instructions === right.instructions &&
          JSON.stringify(left.names) === JSON.stringify(right.names) &&
          JSON.stringify(left.history) === JSON.stringify(right.history.slice(0, left.history.length));
        expect(findPrefixChange(before, after) === undefined).toBe(isStart);
      }),
    );
  });

  it("what is appended never counts, and excerpts are short and well-formed", () => {
    fc.assert(
      fc.property(prefixes, entries, texts, (left, more, other) => {
        const before = build(left);
        expect(findPrefixChange(before, { ...before, history: [...left.history, ...more] })).toBeUndefined();
        const change = findPrefixChange(before, { ...before, instructions: `${left.instructions}${other}!` });
        expect(change?.quotes?.after.length).toBeLessThan(70);
        expect(JSON.stringify(change).isWellFormed()).toBe(true);
      }),
    );
  });
});
