import { appendFileSync, readFileSync, truncateSync } from "node:fs";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

const isLinux = process.platform === "linux";
const createLines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join("");

describe("read_file", () => {
  it("returns a text file unchanged (S1-23)", async () => {
    place.put("notes/a.md", "# Titel\r\n\tübung ✓\n");
    expect(await place.text("read_file", { path: "notes/a.md" })).toBe("# Titel\r\n\tübung ✓\n");
  });

  it("returns a range of lines, and explains how to continue (S1-23)", async () => {
    place.put("a.txt", createLines(10));
    const read = (input: object) => place.text("read_file", { path: "a.txt", ...input });
    expect(await read({ from: 3, lines: 2 })).toBe(
      "line 3\nline 4\n\n[Lines 3 to 4. More lines follow: continue with from: 5.]",
    );
    expect(await read({ from: 9 })).toBe("line 9\nline 10\n\n[Lines 9 to 10, end of file.]");
    expect(await read({ lines: 10 })).toBe(createLines(10));
  });

  it("reports missing files", async () => {
    place.put("a.txt", createLines(3));
    place.put("empty", "");
    await expect(place.call("read_file", { path: "b.txt" })).rejects.toMatchObject({
      code: "not_found",
      retryable: false,
    });
    await expect(place.call("read_file", { path: "b/c.txt" })).rejects.toMatchObject({ code: "not_found" });
    await expect(place.call("read_file", { path: "a.txt", from: 4 })).rejects.toThrow("has only 3 lines");
    expect(await place.text("read_file", { path: "empty" })).toBe('["empty" is empty.]');
  });

  it("reveals no absolute path", async () => {
    const error = await place.call("read_file", { path: "a/b" }).catch(String);
    expect(error).not.toContain(place.path);
    expect(error).not.toContain("/proc");
  });

  it("reports binary files without showing them (A43)", async () => {
    place.put("a.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]));
    place.put("latin.txt", Buffer.from("äöüäöü", "latin1"));
    for (const path of ["a.png", "latin.txt"])
      expect(await place.text("read_file", { path })).toMatch(/^\[".*" is not a text file \(\d bytes/);
  });

  it.runIf(isLinux)("reads only the requested part of a 5 GB file (A43)", async () => {
    const file = place.put("large.log", createLines(50_000));
    truncateSync(file, 5_000_000_000);
    const before = process.memoryUsage().rss;
    const bytesRead = countBytesRead(() => place.text("read_file", { path: "large.log", from: 2, lines: 3 }));
    expect(await bytesRead).toBeLessThan(1_000_000);
    expect(await place.text("read_file", { path: "large.log", from: 9_000, lines: 1 })).toContain(
      "line 9000\n",
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it("ends at its limit when the requested lines are too far in (A43)", async () => {
    const limited = createTemporaryRoot({ limits: { scanBytes: 100_000 } });
    onTestFinished(limited.remove);
    limited.put("a.txt", createLines(20_000));
    const called = limited.call("read_file", { path: "a.txt", from: 19_000 });
    await expect(called).rejects.toThrow(/is out of reach: only its first \d+ lines/);
  });

  it("ends on a file that grows while it is read (A43)", async () => {
    const limited = createTemporaryRoot({ limits: { scanBytes: 3_000_000 } });
    onTestFinished(limited.remove);
    const file = limited.put("a.log", createLines(10));
    const more = createLines(20_000);
    const growing = setInterval(() => appendFileSync(file, more), 0);
    await limited.call("read_file", { path: "a.log", from: 10_000_000 }).catch((error: { code: string }) => {
      expect(error.code).toBe("bad_arguments");
    });
    clearInterval(growing);
  });

  it("truncates very long lines and results (A43)", async () => {
    place.put("one.txt", "x".repeat(1_000_000));
    place.put("many.txt", `${"y".repeat(999)}\n`.repeat(100));
    const one = await place.text("read_file", { path: "one.txt" });
    expect(one).toHaveLength(30_000 + "… [970000 more bytes in this line]".length);
    const many = await place.text("read_file", { path: "many.txt" });
    expect(many).toMatch(/\[Lines 1 to 30\. More lines follow: continue with from: 31\.\]$/);
  });

  it("returns every file unchanged, wherever the chunks end", async () => {
    const piece = fc.record({
      text: fc.constantFrom("a", "é", "😀", "\n", "\r\n"),
      times: fc.constantFrom(1, 2, 3000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (parts) => {
        const text = parts.map(({ text, times }) => text.repeat(times)).join("");
        fc.pre(Buffer.byteLength(text) < 29_000 && (text.match(/\n/g)?.length ?? 0) < 2000);
        place.put("a.txt", text);
        // Not `toBe`: a difference would be told in full.
        expect((await place.text("read_file", { path: "a.txt" })) === text).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("ends when its run is cancelled", async () => {
    place.put("a.txt", "text");
    const called = place.call(
      "read_file",
      { path: "a.txt" },
      { signal: AbortSignal.abort(new Error("enough")) },
    );
    await expect(called).rejects.toThrow("enough");
  });

  it.runIf(isLinux)("leaves no handle open", async () => {
    place.put("a/b.txt", "text");
    const { readdirSync } = await import("node:fs");
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    for (const path of ["a/b.txt", "a/none", "none/b", ".env", "a"])
      for (const tool of ["read_file", "list_files", "search_files"])
        await place
          .call(tool, { path, ...(tool === "search_files" && { query: "x" }) })
          .catch(() => undefined);
    expect(open()).toBe(before);
  });
});

/** What this process has read meanwhile, as the system counts it. */
async function countBytesRead(action: () => Promise<unknown>): Promise<number> {
  const count = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  const before = count();
  await action();
  return count() - before;
}
