import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
  for (const path of ["b.txt", "a/c.ts", "a/deep/d.ts", "node_modules/x/index.js"]) place.put(path, "");
});
afterEach(() => place.remove());

describe("list_files", () => {
  it("lists a folder (S1-23)", async () => {
    expect(await place.text("list_files", {})).toBe("a/\nb.txt\nnode_modules/");
    expect(await place.text("list_files", { path: "a" })).toBe("a/c.ts\na/deep/");
    expect(await place.text("list_files", { path: "node_modules/x" })).toBe("node_modules/x/index.js");
  });

  it("lists to the requested depth, and dependencies only by path (S1-23)", async () => {
    expect(await place.text("list_files", { depth: 2 })).toBe("a/\na/c.ts\na/deep/\nb.txt\nnode_modules/");
    expect(await place.text("list_files", { depth: 9 })).toBe(
      "a/\na/c.ts\na/deep/\na/deep/d.ts\nb.txt\nnode_modules/",
    );
  });

  it("lists the matches of a glob, relative to the folder (S1-23)", async () => {
    expect(await place.text("list_files", { glob: "*.ts" })).toBe("a/c.ts\na/deep/d.ts");
    expect(await place.text("list_files", { glob: "deep/*", path: "a" })).toBe("a/deep/d.ts");
    expect(await place.text("list_files", { glob: "*.md" })).toBe("No files found.");
  });

  it("shows links without following them, also in cycles (A35)", async () => {
    symlinkSync(place.outside, join(place.path, "out"));
    symlinkSync("..", join(place.path, "a/up"));
    const listed = await place.text("list_files", { depth: 9 });
    expect(listed).toContain("out (link)");
    expect(listed).toContain("a/up (link)");
    expect(listed).not.toContain("secret");
  });

  it("stops at its limits and reports it (A42)", async () => {
    const cases = [
      { limits: { entries: 2 }, note: "there are more entries" },
      { limits: { characters: 12 }, note: "there are more entries" },
      { limits: { visits: 2 }, note: "too many files" },
      { limits: { timeMs: 0 }, note: "time limit reached" },
    ];
    for (const { limits, note } of cases) {
      const small = createTemporaryRoot({ limits });
      onTestFinished(small.remove);
      for (const name of ["a", "b", "c", "d/e/f"]) small.put(`${name}.txt`, "");
      const listed = await small.text("list_files", { depth: 9 });
      expect(listed).toContain(`[Incomplete: ${note}.`);
      expect(listed.split("\n").length).toBeLessThan(7);
    }
  });

  it("stops at the maximum depth", async () => {
    place.put(`${"d/".repeat(60)}x.txt`, "");
    const listed = await place.text("list_files", { glob: "**" });
    expect(listed).not.toContain("x.txt");
    expect(listed).toContain("d/".repeat(32));
  });
});
