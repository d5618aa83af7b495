import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileTools } from "../file-tools.ts";
import { callFileTool, createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

const read = (path: string) => readFileSync(join(place.path, path), "utf8");
const getMode = (path: string) => statSync(join(place.path, path)).mode & 0o7777;

describe("write_file", () => {
  it("creates a file and its folders, and shows the user the diff (S1-23)", async () => {
    expect(await place.call("write_file", { path: "a/b/c.txt", content: "one\n" })).toEqual({
      content: 'Created "a/b/c.txt" (lines: 1 added, 0 removed).',
      ui: {
        kind: "diff",
        props: { path: "a/b/c.txt", diff: "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,1 @@\n+one\n" },
      },
    });
    expect(read("a/b/c.txt")).toBe("one\n");
  });

  it("replaces a file and shows the diff to the user but not to the model (S1-23)", async () => {
    place.put("a.txt", "old secret\n");
    const result = (await place.call("write_file", { path: "a.txt", content: "new\n" })) as {
      content: string;
    };
    expect(result).toMatchObject({ ui: { props: { diff: expect.stringContaining("-old secret\n+new\n") } } });
    expect(result.content).toBe('Changed "a.txt" (lines: 1 added, 1 removed).');
    expect(read("a.txt")).toBe("new\n");
  });

  it("says when nothing changes, and when it replaces a binary file", async () => {
    place.put("a.txt", "same");
    place.put("b.bin", "\0");
    expect(await place.call("write_file", { path: "a.txt", content: "same" })).toMatchObject({
      content: '"a.txt" is unchanged.',
    });
    expect(await place.call("write_file", { path: "b.bin", content: "text" })).toMatchObject({
      content: 'Changed "b.bin" (was not a text file).',
      ui: { kind: "diff" },
    });
  });

  it("keeps the mode of a file, and creates no executable file (A44)", async () => {
    chmodSync(place.put("script.sh", "#!/bin/sh\n"), 0o750);
    chmodSync(place.put("private.txt", ""), 0o600);
    chmodSync(place.put("special", ""), 0o4755);
    for (const path of ["script.sh", "private.txt", "special", "new.sh"])
      await place.call("write_file", { path, content: "#!/bin/sh\necho new\n" });
    expect(getMode("script.sh")).toBe(0o750);
    expect(getMode("private.txt")).toBe(0o600);
    expect(getMode("special")).toBe(0o755);
    expect(getMode("new.sh") & 0o111).toBe(0);
  });

  it("treats a patch as plain text: it changes no other path, mode or link (A44)", async () => {
    const patch = [
      "diff --git a/x b/../../outside/secret.txt",
      ...["rename from x", "rename to ../../outside/secret.txt", "old mode 100644", "new mode 100755"],
      ...[
        "new file mode 120000",
        "--- a/x",
        "+++ b/../outside/secret.txt",
        "@@ -1,1 +1,1 @@",
        "-CANARY",
        "+evil",
        "",
      ],
    ].join("\n");
    await place.call("write_file", { path: "x", content: patch });
    await place.call("edit_file", { path: "x", edits: [{ find: "evil", replace: patch }] });
    expect(readdirSync(place.path)).toEqual(["x"]);
    expect(readdirSync(place.outside)).toEqual(["secret.txt"]);
    expect(getMode("x") & 0o111).toBe(0);
  });

  it("does not overwrite links or folders, and writes nothing below a file", async () => {
    mkdirSync(join(place.path, "folder"));
    symlinkSync("folder", join(place.path, "link"));
    place.put("file", "");
    const write = (path: string) => place.call("write_file", { path, content: "x" });
    await expect(write("folder")).rejects.toMatchObject({ code: "bad_arguments" });
    await expect(write("link")).rejects.toMatchObject({ code: "security" });
    await expect(write("file/below")).rejects.toMatchObject({ code: "bad_arguments" });
    await expect(write(".")).rejects.toMatchObject({ code: "bad_arguments" });
  });

  it("does not write an unpaired surrogate (A39)", async () => {
    const called = place.call("write_file", { path: "a", content: "\ud800" });
    await expect(called).rejects.toMatchObject({ code: "bad_arguments" });
    expect(readdirSync(place.path)).toEqual([]);
  });

  it("leaves no temporary file behind", async () => {
    for (let n = 0; n < 5; n++) await place.call("write_file", { path: `${n}.txt`, content: "x" });
    expect(readdirSync(place.path)).toEqual(["0.txt", "1.txt", "2.txt", "3.txt", "4.txt"]);
  });

  it("does not write when its run was cancelled while it waited", async () => {
    const controller = new AbortController();
    const first = place.call("write_file", { path: "a", content: "1" });
    const second = place.call("write_file", { path: "b", content: "2" }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await first;
    await expect(second).rejects.toThrow("enough");
    expect(readdirSync(place.path)).toEqual(["a"]);
  });
});

describe("the quota", () => {
  const write = (tools: ReturnType<typeof fileTools>, path: string, size: number, runId = "run") =>
    callFileTool(tools, "write_file", { input: { path, content: "x".repeat(size) }, runId });
  const over = { code: "tool_failed", retryable: false, message: expect.stringContaining("Quota exceeded") };

  it("per file is enforced, and the old content stays (A41)", async () => {
    place.put("a", "old");
    const tools = fileTools({ root: place.path, quota: { fileBytes: 100 } });
    await expect(write(tools, "a", 101)).rejects.toMatchObject(over);
    expect(read("a")).toBe("old");
    const grown = { path: "a", edits: [{ find: "old", replace: "x".repeat(101) }] };
    await expect(callFileTool(tools, "edit_file", { input: grown })).rejects.toThrow("100 bytes");
    await write(tools, "a", 100);
  });

  it("applies by default: 10 MB per file and 100 MB per run (A41)", async () => {
    const tools = fileTools({ root: place.path });
    await expect(write(tools, "large", 10_000_001)).rejects.toMatchObject(over);
    const content = "x".repeat(10_000_000);
    for (let n = 0; n < 10; n++)
      await callFileTool(tools, "write_file", { input: { path: "large", content } });
    await expect(write(tools, "large", 1)).rejects.toMatchObject(over);
    await write(tools, "large", 1, "another run");
  });

  it("of files counts folders too, but not rewritten files (A41)", async () => {
    const tools = fileTools({ root: place.path, quota: { runFiles: 4 } });
    await write(tools, "a/b/c", 1);
    await write(tools, "a/b/c", 2);
    await write(tools, "a/b/d", 1).catch(() => expect.unreachable("the fourth is allowed"));
    await expect(write(tools, "e", 1)).rejects.toMatchObject(over);
    await expect(write(tools, "f/g/h", 1)).rejects.toMatchObject(over);
    expect(readdirSync(place.path)).toEqual(["a"]);
    await write(tools, "e", 1, "another run");
  });

  it("of the root counts all existing files (A41)", async () => {
    place.put("node_modules/a/b", "x".repeat(90));
    const bytes = fileTools({ root: place.path, quota: { bytes: 100 } });
    await expect(write(bytes, "c", 11)).rejects.toMatchObject(over);
    await write(bytes, "c", 10);
    const files = fileTools({ root: place.path, quota: { files: 5 } });
    await write(files, "d", 1);
    await expect(write(files, "e", 1)).rejects.toMatchObject(over);
  });

  it("must consist of known, numeric fields", () => {
    for (const quota of [{ bytes: -1 }, { files: Number.NaN }, { byte: 1 } as object])
      expect(() => fileTools({ root: place.path, quota })).toThrow(
        expect.objectContaining({ code: "invalid_definition" }),
      );
  });
});

describe("many writers", () => {
  it("take turns: none of 50 edits of one file is lost", async () => {
    place.put("list.txt", "end\n");
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        place.call("edit_file", { path: "list.txt", edits: [{ find: "end\n", replace: `${n}\nend\n` }] }),
      ),
    );
    expect(read("list.txt").split("\n")).toHaveLength(52);
  });
});
