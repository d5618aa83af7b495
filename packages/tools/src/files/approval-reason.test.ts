import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileTools } from "../file-tools.ts";
import { createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

const why = ": files are changed only with your approval.";

/** Returns what the request says the call does, without why it waits. */
async function reason(path: string, options: object = {}): Promise<unknown> {
  const tools = fileTools({ root: place.path, ...options });
  const tool = tools.find(({ name }) => name === "write_file");
  const approval = await tool?.needsApproval?.({ path, content: "hello" }, { context: undefined });
  const text = typeof approval === "object" ? approval.reason : approval;
  expect(text).toMatch(new RegExp(`${why}$`));
  return String(text).replace(why, "");
}

describe("the diff in an approval request", () => {
  const ask = async (name: string, input: object) => {
    const tool = fileTools({ root: place.path }).find((candidate) => candidate.name === name);
    const approval = await tool?.needsApproval?.(input, { context: undefined });
    return typeof approval === "object" ? approval.ui : approval;
  };
  const edits = [{ find: "two", replace: "2" }];

  it("is the change as it would be written, with its place in the file", async () => {
    place.put("a.txt", "one\ntwo\nthree\n");
    const diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    expect(await ask("edit_file", { path: "a.txt", edits })).toEqual({
      ...{ kind: "diff", props: { path: "a.txt", diff } },
    });
    expect(await ask("write_file", { path: "new/b.txt", content: "x\n" })).toMatchObject({
      props: { diff: "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,1 @@\n+x\n" },
    });
    expect(await ask("write_file", { path: "a.txt", content: "one\n" })).toMatchObject({
      props: { diff: expect.stringContaining("-two\n-three\n") },
    });
  });

  it("is missing if the edit does not apply now, or the file may not be read", async () => {
    place.put("a.txt", "two two");
    symlinkSync(join(place.outside, "secret.txt"), join(place.path, "link.txt"));
    for (const path of ["a.txt", "none.txt", "link.txt"])
      expect(await ask("edit_file", { path, edits })).toMatch(/^Changes the file/);
    expect(await ask("edit_file", { path: ".env", edits })).toBe(false);
  });
});

describe("the approval request for a write", () => {
  it("states that a file is created", async () => {
    place.put("letters/first.txt", "Dear boat");
    expect(await reason("second.txt")).toBe('Creates the file "second.txt"');
    expect(await reason("letters/second.txt")).toBe('Creates the file "letters/second.txt"');
    expect(await reason("ships/tall/list.txt")).toBe('Creates the file "ships/tall/list.txt"');
  });

  it("states that a whole file is replaced, and its size", async () => {
    place.put("ships.txt", "1\n2\n3\n4\n5\n6\n7\n");
    place.put("letter.txt", "Dear boat");
    place.put("empty.txt", "");
    place.put("sail.png", "\0\0\0");
    expect(await reason("ships.txt")).toBe('Replaces the whole file "ships.txt" (7 lines)');
    expect(await reason("letter.txt")).toBe('Replaces the whole file "letter.txt" (1 line)');
    expect(await reason("empty.txt")).toBe('Replaces the whole file "empty.txt" (0 lines)');
    expect(await reason("sail.png")).toBe('Replaces the whole file "sail.png" (3 bytes)');
    const quota = { fileBytes: 5 };
    expect(await reason("letter.txt", { quota })).toBe('Replaces the whole file "letter.txt" (9 bytes)');
  });

  it("is made even if the file cannot be read: it may change before the call", async () => {
    mkdirSync(join(place.path, "harbour"));
    symlinkSync(join(place.outside, "secret.txt"), join(place.path, "link.txt"));
    symlinkSync(place.outside, join(place.path, "away"));
    expect(await reason("harbour")).toBe('Writes the file "harbour"');
    expect(await reason("link.txt")).toBe('Writes the file "link.txt"');
    expect(await reason("away/secret.txt")).toBe('Writes the file "away/secret.txt"');
  });
});
