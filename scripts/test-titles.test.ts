import { expect, it } from "vitest";
import { findTitles } from "./test-titles.ts";

const joinLines = (...source: readonly string[]): string => source.join("\n");

it("finds the titles of it, test and describe, in every kind of quotes", () => {
  const source = joinLines(
    'describe("a store", () => {',
    "  it('keeps facts', () => {});",
    "  test(`gives them back`, async () => {});",
    "});",
  );
  expect(findTitles(source)).toEqual(["a store", "keeps facts", "gives them back"]);
});

it("finds a title on the line after the bracket, and one with escaped quotes", () => {
  expect(findTitles(joinLines("it(", '  "says \\"no\\"",', "  () => {},", ");"))).toEqual(['says "no"']);
});

it("finds the title after the table of each, for, skipIf and runIf", () => {
  const source = joinLines(
    'it.each([["a)", 1], [`(b`, f(2)]])("one %s", () => {});',
    "test.for([",
    "  [1, 2],",
    "])('two %s', () => {});",
    "it.each`",
    "  a | b",
    '`("three $a", () => {});',
    'describe.skipIf(isSlow())("four", () => {});',
    'it.concurrent.each([1])("five", () => {});',
    'it.each<[string, Map<string, number>]>([])("six", () => {});',
  );
  expect(findTitles(source)).toEqual(["one %s", "two %s", "three $a", "four", "five", "six"]);
});

it("ignores skipped and todo tests, comments, quoted tests and other functions", () => {
  const source = joinLines(
    'it.skip("no", () => {});',
    'test.todo("no");',
    '// it("no", () => {});',
    ' * it("no", () => {});',
    "const source = \"it('no')\";",
    'wait("no");',
    'list.it("no");',
    "it(title, () => {});",
    'for (const name of names) it.only("yes", () => {});',
  );
  expect(findTitles(source)).toEqual(["yes"]);
});
