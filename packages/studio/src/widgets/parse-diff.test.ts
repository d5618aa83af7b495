import { expect, test } from "vitest";
import { parseDiff } from "./parse-diff.ts";

test("a hunk at line 0 has an unknown position, so its lines have no numbers", () => {
  const { hunks, added, removed } = parseDiff(
    "--- a/x\n+++ b/x\n@@ -0,2 +0,2 @@\n a\n-b\n+c\n@@ -0,0 +0,1 @@\n+d\n@@ -0,1 +0,0 @@\n-e\n",
  );
  expect({ added, removed }).toEqual({ added: 2, removed: 2 });
  expect(hunks.map(({ lines }) => lines)).toEqual([
    [
      { type: "same", text: "a" },
      { type: "removed", text: "b" },
      { type: "added", text: "c" },
    ],
    [{ type: "added", text: "d" }],
    [{ type: "removed", text: "e" }],
  ]);
});

test("a new file has line numbers", () => {
  expect(parseDiff("--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n").hunks[0]?.lines).toEqual([
    { type: "added", text: "a", after: 1 },
  ]);
});
