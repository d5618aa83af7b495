import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileTools } from "../file-tools.ts";
import { canary, createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot(({ base }) => ({ undo: { folder: join(base, "undo") } }));
});
afterEach(() => place.remove());

const read = (path: string) => readFileSync(join(place.path, path), "utf8");
const write = (path: string, content: string) => place.call("write_file", { path, content });
const undo = (path?: string) => place.text("undo_change", path === undefined ? {} : { path });
/** The folder of the changes of this root. */
const findUndoFolder = () => {
  const folder = join(place.path, "../undo");
  return join(folder, readdirSync(folder)[0] ?? "");
};

describe("undo_change", () => {
  it("restores the content before the last change, and goes back change by change (S1-23)", async () => {
    place.put("a.txt", "one\n");
    await write("a.txt", "two\n");
    await place.call("edit_file", { path: "a.txt", edits: [{ find: "two", replace: "three" }] });
    expect(await undo()).toBe('Restored "a.txt" as it was before the last change.');
    expect(read("a.txt")).toBe("two\n");
    await undo();
    expect(read("a.txt")).toBe("one\n");
    await expect(undo()).rejects.toThrow("No change in this folder can be undone.");
  });

  it("removes a file that was new", async () => {
    await write("notes/new.txt", "hello\n");
    expect(await undo()).toBe('Removed "notes/new.txt", which was new.');
    expect(readdirSync(join(place.path, "notes"))).toEqual([]);
  });

  it("undoes the last change of the file that the call names", async () => {
    place.put("a.txt", "a");
    place.put("b.txt", "b");
    await write("a.txt", "A");
    await write("b.txt", "B");
    await undo("./a.txt");
    expect([read("a.txt"), read("b.txt")]).toEqual(["a", "B"]);
    await expect(undo("a.txt")).rejects.toThrow('No change to "a.txt" can be undone.');
  });

  it("restores bytes that are not text, and the mode of the file stays", async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0]);
    const file = place.put("data.bin", bytes);
    const { mode } = statSync(file);
    await write("data.bin", "text");
    await undo();
    expect(readFileSync(file)).toEqual(bytes);
    expect(statSync(file).mode).toBe(mode);
  });

  it("needs approval, and the request shows the diff that the user will get", async () => {
    place.put("a.txt", "old\nsame\n");
    await write("a.txt", "new\nsame\n");
    expect(await place.ask("undo_change", {})).toEqual({
      reason:
        'Undoes the last change to the file "a.txt" and restores the earlier content: files are changed only with your approval.',
      ui: {
        kind: "diff",
        props: { path: "a.txt", diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-new\n+old\n same\n" },
      },
    });
    await write("b.txt", "b\n");
    expect(await place.ask("undo_change", { path: "b.txt" })).toMatchObject({
      reason: expect.stringContaining("removes the file, which was new"),
      ui: { props: { diff: "--- a/b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-b\n" } },
    });
  });

  it("asks nothing if it cannot undo, and tells the model why", async () => {
    const tools = fileTools({ root: place.path, undo: { folder: join(place.path, "../undo") } });
    const model = scriptedModel([{ calls: [{ name: "undo_change", input: {} }] }, { text: "Nothing." }]);
    const result = await run(defineAgent({ name: "files", model, tools }), "Undo it.");
    expect(result).toMatchObject({ status: "done", pending: [] });
    expect(result.history.find((entry) => entry.type === "result")).toMatchObject({
      ...{ status: "error", error: { code: "bad_arguments" } },
      content: expect.stringContaining("No change in this folder can be undone."),
    });
  });

  it("keeps the content that another program wrote since", async () => {
    place.put("a.txt", "one");
    await write("a.txt", "two");
    place.put("a.txt", "mine");
    await expect(undo()).rejects.toThrow('"a.txt" has changed since its last change here');
    expect(read("a.txt")).toBe("mine");
    rmSync(join(place.path, "a.txt"));
    await expect(undo()).rejects.toThrow("or was removed");
    expect(existsSync(join(place.path, "a.txt"))).toBe(false);
    // The change is still known: undo works once the content is back.
    place.put("a.txt", "two");
    await undo();
    expect(read("a.txt")).toBe("one");
  });

  it("undoes only the change that the user saw in the request", async () => {
    place.put("a.txt", "one");
    await write("a.txt", "two");
    await place.ask("undo_change", {});
    await write("b.txt", "newer");
    await expect(undo()).rejects.toThrow("has changed since the user saw the change");
    expect([read("a.txt"), read("b.txt")]).toEqual(["two", "newer"]);
  });

  it("works after a restart", async () => {
    place.put("a.txt", "one");
    await write("a.txt", "two");
    const later = createTemporaryRoot(({ base }) => ({ undo: { folder: join(base, "undo") } }), place);
    expect(await later.text("undo_change", {})).toContain("Restored");
    expect(read("a.txt")).toBe("one");
  });

  it("does not follow a link that replaced the file or its folder (A34)", async () => {
    place.put("folder/secret.txt", "one");
    await write("folder/secret.txt", "two");
    rmSync(join(place.path, "folder/secret.txt"));
    symlinkSync(join(place.outside, "secret.txt"), join(place.path, "folder/secret.txt"));
    await expect(undo()).rejects.toMatchObject({ code: "security" });
    renameSync(join(place.path, "folder"), join(place.path, "moved"));
    symlinkSync(place.outside, join(place.path, "folder"));
    await expect(undo()).rejects.toMatchObject({ code: "security" });
    expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe(canary);
    expect(readdirSync(place.outside)).toEqual(["secret.txt"]);
  });

  it("writes to no path outside the root or protected, whatever a stored change says (A34, A40)", async () => {
    await write("a.txt", "x");
    const folder = findUndoFolder();
    const hash = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0] ?? ""), "utf8")).hash;
    for (const path of ["../outside/secret.txt", ".git/hooks/pre-commit"]) {
      const header = JSON.stringify({ path, isNew: false, hash });
      writeFileSync(join(folder, "999999999999999-00000000.change"), `${header}\nevil`);
      await expect(undo()).rejects.toMatchObject({ code: "security" });
    }
    expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe(canary);
    expect(existsSync(join(place.path, ".git"))).toBe(false);
  });

  it("skips a change that was stored but not made, as after a crash", async () => {
    place.put("a.txt", "one");
    await write("a.txt", "two");
    place.put("b.txt", "b");
    await write("b.txt", "B");
    place.put("b.txt", "b");
    await undo();
    expect([read("a.txt"), read("b.txt")]).toEqual(["one", "b"]);
  });

  it("skips a damaged change", async () => {
    place.put("a.txt", "one");
    await write("a.txt", "two");
    writeFileSync(join(findUndoFolder(), "999999999999999-00000000.change"), "{ half");
    await undo();
    expect(read("a.txt")).toBe("one");
  });
});

describe("the history of changes", () => {
  it("offers to undo a change below the answer, and only if the change is kept", async () => {
    expect(await write("a.txt", "one")).toMatchObject({
      ui: { props: { replies: ["Undo the change to a.txt"] } },
    });
    const isKept = (result: unknown) => JSON.stringify(result).includes("replies");
    expect(isKept(await write("a.txt", "one"))).toBe(false);
    expect(isKept(await write(`${"long".repeat(20)}.txt`, "one"))).toBe(false);
    expect(await undo("a.txt")).toContain("Removed");
  });

  it("keeps nothing of a change that failed", async () => {
    place.put("a.txt", "one");
    mkdirSync(join(place.path, "folder"));
    await expect(write("folder", "x")).rejects.toThrow();
    await expect(
      place.call("edit_file", { path: "a.txt", edits: [{ find: "?", replace: "" }] }),
    ).rejects.toThrow();
    await expect(undo()).rejects.toThrow("No change");
  });

  it("drops the oldest changes beyond its limits, and is readable by its owner only", async () => {
    const limits = { maxChanges: 3, maxBytes: 10_000 };
    const small = createTemporaryRoot(
      ({ base }) => ({ undo: { folder: join(base, "undo"), ...limits } }),
      place,
    );
    const change = (content: string) => small.call("write_file", { path: "a.txt", content });
    for (const content of ["1", "2", "3", "4", "5"]) await change(content);
    expect(readdirSync(findUndoFolder())).toHaveLength(3);
    await change("x".repeat(20_000));
    await change("6");
    const [kept = "", ...others] = readdirSync(findUndoFolder());
    expect(others).toEqual([]);
    expect(statSync(findUndoFolder()).mode & 0o777).toBe(0o700);
    expect(statSync(join(findUndoFolder(), kept)).mode & 0o777).toBe(0o600);
  });

  it("says before it replaces a file that is too large to be kept", async () => {
    const small = createTemporaryRoot(
      ({ base }) => ({ undo: { folder: join(base, "undo") }, quota: { fileBytes: 100 } }),
      place,
    );
    place.put("large.txt", "x".repeat(101));
    expect(await small.ask("write_file", { path: "large.txt", content: "y" })).toMatchObject({
      reason: expect.stringContaining("too large to be undone"),
    });
    await small.call("write_file", { path: "large.txt", content: "y" });
    await expect(small.call("undo_change", {})).rejects.toThrow("No change");
  });

  it("cannot be read or changed by the tools if it is in the root (A40)", async () => {
    const folder = join(place.path, "kept");
    const inside = createTemporaryRoot(() => ({ undo: { folder } }), place);
    place.put("a.txt", "one");
    await inside.call("write_file", { path: "a.txt", content: "two" });
    expect(await inside.text("list_files", { glob: "**" })).toBe("a.txt");
    const inner = readdirSync(join(folder, readdirSync(folder)[0] ?? ""))[0];
    const path = `kept/${readdirSync(folder)[0]}/${inner}`;
    await expect(inside.call("read_file", { path })).rejects.toMatchObject({ code: "security" });
    await inside.call("undo_change", {});
    expect(read("a.txt")).toBe("one");
  });
});
