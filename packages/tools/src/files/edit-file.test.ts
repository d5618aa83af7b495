import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

const edit = (...edits: { find: string; replace: string; all?: boolean }[]) =>
  place.call("edit_file", { path: "a.txt", edits });
const content = () => readFileSync(join(place.path, "a.txt"), "utf8");

describe("edit_file", () => {
  it("replaces a text that occurs once, and shows the user the diff (S1-23)", async () => {
    place.put("a.txt", "one\ntwo\nthree\n");
    expect(await edit({ find: "two", replace: "2" })).toEqual({
      content: 'Changed "a.txt" (lines: 1 added, 1 removed).',
      ui: {
        kind: "diff",
        props: { path: "a.txt", diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" },
      },
    });
    expect(content()).toBe("one\n2\nthree\n");
  });

  it("makes several edits one after the other, or none", async () => {
    place.put("a.txt", "one two");
    await edit({ find: "one", replace: "1" }, { find: "1 two", replace: "1 2" });
    expect(content()).toBe("1 2");
    await expect(edit({ find: "1", replace: "x" }, { find: "three", replace: "3" })).rejects.toThrow(
      'Edit 2: the text "three" was not found in "a.txt".',
    );
    expect(content()).toBe("1 2");
  });

  it("reports how often a text occurs, and replaces all with `all`", async () => {
    place.put("a.txt", "x x x");
    await expect(edit({ find: "x", replace: "y" })).rejects.toMatchObject({
      code: "bad_arguments",
      message: expect.stringContaining('the text "x" occurs 3 times in "a.txt"'),
    });
    await edit({ find: "x", replace: "$&", all: true });
    expect(content()).toBe("$& $& $&");
  });

  it("suggests why a text is not found", async () => {
    place.put("a.txt", "one\r\n  two\r\n");
    await expect(edit({ find: "one\n  two", replace: "" })).rejects.toThrow(
      "The file uses \\r\\n line endings.",
    );
    await expect(edit({ find: "one two", replace: "" })).rejects.toThrow("with different whitespace");
    await expect(edit({ find: "three", replace: "" })).rejects.toThrow(
      '"three" was not found in "a.txt". Nothing was',
    );
  });

  it("keeps line endings, byte order marks and a missing final newline", async () => {
    place.put("a.txt", "\ufeffone\r\ntwo");
    await edit({ find: "two", replace: "2" });
    expect(content()).toBe("\ufeffone\r\n2");
  });

  it("does not edit missing, binary or too large files", async () => {
    await expect(edit({ find: "a", replace: "b" })).rejects.toMatchObject({ code: "not_found" });
    place.put("a.txt", Buffer.from("ä", "latin1"));
    await expect(edit({ find: "a", replace: "b" })).rejects.toThrow("cannot be edited");
    place.put("a.txt", "x".repeat(10_000_001));
    await expect(edit({ find: "x", replace: "b", all: true })).rejects.toThrow("cannot be edited");
  });

  it("does not build a text that would be too large (A41)", async () => {
    place.put("a.txt", "x".repeat(100_000));
    const before = process.memoryUsage().rss;
    await expect(edit({ find: "x", replace: "y".repeat(1_000_000), all: true })).rejects.toThrow(
      "larger than",
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    expect(content()).toHaveLength(100_000);
  });
});

describe("a file that another program has changed", () => {
  const input = { path: "a.txt", edits: [{ find: "two", replace: "2" }] };
  const changed = { code: "bad_arguments", message: expect.stringContaining("has changed since") };

  it("is not edited or replaced after it was read; after reading it again, it is", async () => {
    place.put("a.txt", "one two");
    await place.call("read_file", { path: "a.txt" });
    place.put("a.txt", "one two three");
    await expect(place.call("edit_file", input)).rejects.toMatchObject(changed);
    await expect(place.call("write_file", { path: "a.txt", content: "" })).rejects.toMatchObject(changed);
    expect(content()).toBe("one two three");
    await place.call("read_file", { path: "a.txt" });
    await place.call("edit_file", input);
    expect(content()).toBe("one 2 three");
  });

  it("is not edited after the user saw the diff of the earlier file", async () => {
    place.put("a.txt", "one two");
    await place.ask("edit_file", input);
    place.put("a.txt", "zero two");
    await expect(place.call("edit_file", input)).rejects.toMatchObject({
      message: expect.stringContaining("has changed since the user saw the change"),
    });
    expect(content()).toBe("zero two");
  });

  it("is not created or replaced if the user saw another state of it", async () => {
    const write = { path: "b.txt", content: "mine" };
    await place.ask("write_file", write);
    place.put("b.txt", "theirs");
    await expect(place.call("write_file", write)).rejects.toMatchObject(changed);
  });

  it("several edits of one turn, shown at once, all apply", async () => {
    place.put("a.txt", "one two");
    const other = { path: "a.txt", edits: [{ find: "one", replace: "1" }] };
    await place.call("read_file", { path: "a.txt" });
    for (const edits of [input, other]) await place.ask("edit_file", edits);
    for (const edits of [input, other]) await place.call("edit_file", edits);
    expect(content()).toBe("1 2");
  });

  it("a change in another session counts: its reader has not seen it", async () => {
    place.put("a.txt", "one two");
    await place.call("read_file", { path: "a.txt" });
    await place.call("edit_file", input, { sessionId: "other" });
    const own = { path: "a.txt", edits: [{ find: "one", replace: "1" }] };
    await expect(place.call("edit_file", own)).rejects.toMatchObject(changed);
  });
});
