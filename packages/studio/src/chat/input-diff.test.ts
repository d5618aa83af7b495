import { expect, test } from "vitest";
import { inputDiff } from "./input-diff.ts";

const linesOf = (input: Parameters<typeof inputDiff>[0]) =>
  String(Object(inputDiff(input)?.props).diff)
    .trimEnd()
    .split("\n")
    .slice(2);

test("what old and new begin and end with is shown as unchanged", () => {
  const edits = [{ find: "def greet():\n  a\n  b", replace: "def greet():\n  c\n  d\n  b" }];
  expect(linesOf({ path: "a.py", edits })).toEqual([
    "@@ -1,3 +1,4 @@",
    " def greet():",
    "-  a",
    "+  c",
    "+  d",
    "   b",
  ]);
});

test("a line that is only added or taken away is the only change", () => {
  expect(linesOf({ path: "a", find: "x", replace: "x\nx" })).toEqual(["@@ -1,1 +1,2 @@", " x", "+x"]);
  expect(linesOf({ path: "a", find: "x\nx", replace: "x" })).toEqual(["@@ -1,2 +1,1 @@", " x", "-x"]);
  expect(linesOf({ path: "a", content: "new\n" })).toEqual(["@@ -1,0 +1,1 @@", "+new"]);
});

test("without a path or a change there is nothing to show", () => {
  expect([inputDiff({ content: "x" }), inputDiff({ path: "a" }), inputDiff(null)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
