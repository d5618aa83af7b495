import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readCpuMs } from "../../../capstan/src/testing/cpu-time.ts";
import { createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

describe("search_files", () => {
  it("names the file and line of each match (S1-23)", async () => {
    place.put("src/a.ts", "one\n  two (x)\nthree\n");
    place.put("b.md", "two\n");
    const search = (input: object) => place.text("search_files", input);
    expect(await search({ query: "two" })).toBe("b.md:1: two\nsrc/a.ts:2: two (x)");
    expect(await search({ query: "two", glob: "*.ts" })).toBe("src/a.ts:2: two (x)");
    expect(await search({ query: "two", path: "src", glob: "a.*" })).toBe("src/a.ts:2: two (x)");
    expect(await search({ query: "(x)" })).toBe("src/a.ts:2: two (x)");
    expect(await search({ query: "^T\\w+$", regex: true })).toBe("No matches found.");
    expect(await search({ query: "(?i)^T\\w+$", regex: true })).toBe("b.md:1: two\nsrc/a.ts:3: three");
  });

  it("skips binary files, dependencies and empty files", async () => {
    place.put("a.bin", "find\0me");
    place.put("node_modules/a/b.js", "find me");
    place.put("empty", "");
    place.put("b.txt", "find me");
    expect(await place.text("search_files", { query: "find" })).toBe("b.txt:1: find me");
    expect(await place.text("search_files", { query: "find", path: "node_modules/a" })).toBe(
      "node_modules/a/b.js:1: find me",
    );
  });

  it.each(["(a+)+$", "(a|aa)+$", "(.*)*x", "(a*)*b"])("takes little time for %j (A42)", async (query) => {
    place.put("a.txt", `${"a".repeat(30_000)}!\n`.repeat(5));
    const startedAt = readCpuMs();
    await place.call("search_files", { query, regex: true });
    expect(readCpuMs() - startedAt).toBeLessThan(5000);
  });

  it("yields while it searches, and ends at its time limit (A42)", async () => {
    const slow = createTemporaryRoot({ limits: { timeMs: 2_000 } });
    onTestFinished(slow.remove);
    // In text without a pattern the engine's own shortcuts do not help.
    const line = () => Array.from({ length: 2000 }, () => (Math.random() < 0.5 ? "a" : "b")).join("");
    slow.put("a.txt", Array.from({ length: 500 }, line).join("\n"));
    let beats = 0;
    const beat = setInterval(() => beats++, 1);
    const found = await slow.text("search_files", { query: "a[ab]{900}[cd]", regex: true });
    clearInterval(beat);
    expect(found).toContain("time limit reached");
    expect(beats).toBeGreaterThan(1);
  });

  it("stops at its line limit, and reports it (A42)", async () => {
    const small = createTemporaryRoot({ limits: { matches: 3 } });
    onTestFinished(small.remove);
    small.put("a.txt", "x\n".repeat(1000));
    expect(await small.text("search_files", { query: "x" })).toBe(
      "a.txt:1: x\na.txt:2: x\na.txt:3: x\n\n[Incomplete: there are more entries. Narrow the search with a path or a glob.]",
    );
  });

  it.each(["", "a\nb", "x".repeat(1001)])("rejects the query %.5j", async (query) => {
    await expect(place.call("search_files", { query })).rejects.toMatchObject({ code: "bad_arguments" });
  });

  it("truncates long lines", async () => {
    place.put("a.txt", `${"y".repeat(5000)}\n`);
    expect((await place.text("search_files", { query: "yyy" })).length).toBeLessThan(320);
  });
});
