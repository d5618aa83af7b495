import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCpuMs } from "../../../capstan/src/testing/cpu-time.ts";
import { createUnifiedDiff } from "./unified-diff.ts";

/** Applies a diff by the letter: every kept and every taken line must be where the diff says. */
function applyDiff(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const after: string[] = [];
  let at = 0;
  const lines = diff.split("\n").slice(2, -1);
  for (const [index, line] of lines.entries()) {
    const hunk = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line);
    if (hunk) {
      const [from = 0, count = 0, to = 0, newCount = 0] = hunk.slice(1).map(Number);
      const start = count === 0 ? from : from - 1;
      while (at < start) after.push(old[at++] ?? "missing");
      expect(after.length).toBe(newCount === 0 ? to : to - 1);
      continue;
    }
    if (line.startsWith("\\")) continue;
    const text = line.slice(1) + (lines[index + 1]?.startsWith("\\") ? "" : "\n");
    if (line[0] !== "+") expect(old[at++]).toBe(text);
    if (line[0] !== "-") after.push(text);
  }
  return [...after, ...old.slice(at)].join("");
}

describe("a unified diff", () => {
  it("shows the changes, with the lines around them", () => {
    const before = "a\nb\nc\nd\ne\nf\ng\nh\n";
    expect(createUnifiedDiff("x.txt", before, "a\nb\nc\nd\nE\nf\ng\nh\ni").text).toBe(
      [
        ...["--- a/x.txt", "+++ b/x.txt", "@@ -2,7 +2,8 @@", " b", " c", " d", "-e", "+E", " f", " g", " h"],
        ...["+i", "\\ No newline at end of file", ""],
      ].join("\n"),
    );
  });

  it("marks a new file", () => {
    expect(createUnifiedDiff("x", undefined, "a\n")).toEqual({
      text: "--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n",
      added: 1,
      removed: 0,
    });
  });

  it("is empty when nothing changes", () => {
    expect(createUnifiedDiff("x", "a\nb", "a\nb")).toEqual({ text: "", added: 0, removed: 0 });
  });

  it("turns the one text into the other", () => {
    const texts = fc
      .array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d"), { maxLength: 30 })
      .map((lines) => lines.join(""));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const { text, added, removed } = createUnifiedDiff("x", before, after);
        expect(applyDiff(before, text)).toBe(after);
        const count = (content: string) => content.match(/[^\n]*\n|[^\n]+$/g)?.length ?? 0;
        expect(added - removed).toBe(count(after) - count(before));
      }),
      { numRuns: 1000 },
    );
  });

  it("is minimal", () => {
    const { added, removed } = createUnifiedDiff("x", "a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n");
    expect(added + removed).toBe(5);
  });

  it("of two large, completely different texts is correct and truncated (A41)", () => {
    const text = (letter: string) => Array.from({ length: 20_000 }, (_, n) => `${letter}${n}\n`).join("");
    const startedAt = readCpuMs();
    const { text: diff, added, removed } = createUnifiedDiff("x", text("a"), text("b"));
    expect(readCpuMs() - startedAt).toBeLessThan(5000);
    expect({ added, removed }).toEqual({ added: 20_000, removed: 20_000 });
    expect(diff.length).toBeLessThan(41_000);
    expect(diff).toMatch(/… \d+ more lines\n$/);
  });
});
