import { expect, test } from "vitest";
import { buildInputDiff, getInputContent } from "./input-diff.ts";

const diffLinesOfInput = (input: Parameters<typeof buildInputDiff>[0]) =>
  String(Object(buildInputDiff(input)?.props).diff)
    .trimEnd()
    .split("\n")
    .slice(2);

test("common first and last lines are shown as unchanged", () => {
  const edits = [{ find: "def greet():\n  a\n  b", replace: "def greet():\n  c\n  d\n  b" }];
  expect(diffLinesOfInput({ path: "a.py", edits })).toEqual([
    "@@ -0,3 +0,4 @@",
    " def greet():",
    "-  a",
    "+  c",
    "+  d",
    "   b",
  ]);
});

test("an added or removed line is the only change", () => {
  expect(diffLinesOfInput({ path: "a", find: "x", replace: "x\nx" })).toEqual([
    "@@ -0,1 +0,2 @@",
    " x",
    "+x",
  ]);
  expect(diffLinesOfInput({ path: "a", find: "x\nx", replace: "x" })).toEqual([
    "@@ -0,2 +0,1 @@",
    " x",
    "-x",
  ]);
});

test("the position of a change is unknown, except that it applies to all occurrences", () => {
  const edits = [{ find: "sail", replace: "row", all: true }];
  expect(diffLinesOfInput({ path: "a", edits })).toEqual([
    "@@ -0,1 +0,1 @@ all occurrences",
    "-sail",
    "+row",
  ]);
});

test("whole content is not a diff, because the previous content is unknown", () => {
  expect(buildInputDiff({ path: "a", content: "new\n" })).toBe(undefined);
  expect(getInputContent({ path: "a", content: "new\n" })).toBe("new\n");
  expect(getInputContent({ path: "a", find: "x", replace: "y" })).toBe(undefined);
  expect(getInputContent({ content: "new" })).toBe(undefined);
});

test("without a path or a change no diff is shown", () => {
  expect([buildInputDiff({ content: "x" }), buildInputDiff({ path: "a" }), buildInputDiff(null)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
