import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { fileTools } from "../file-tools.ts";
import { type Directory, withDirectory } from "./directory.ts";
import { openFile } from "./open-file.ts";
import { replaceInDirectory } from "./replace-in-directory.ts";
import { resolveRoot } from "./root.ts";
import { callFileTool, canary, createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";
import { createWalk, walkDirectory } from "./walk.ts";
import { defaultLimits } from "./workspace.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

const refusal = { code: "security", retryable: false };
const edits = [{ find: "CANARY", replace: "gone" }];

/** All five tools on a path: whatever they say, the canary is not in it, and nothing outside has changed. */
async function attack(path: string): Promise<void> {
  const { call, outside } = place;
  const calls = [
    call("read_file", { path }),
    call("write_file", { path, content: "evil" }),
    call("edit_file", { path, edits }),
    call("list_files", { path }),
    call("search_files", { path, query: "CANARY" }),
  ];
  for (const [index, outcome] of (await Promise.allSettled(calls)).entries()) {
    const told = JSON.stringify(outcome.status === "fulfilled" ? outcome.value : String(outcome.reason));
    expect(told).not.toContain("7f3a");
    if (index < 3) expect(outcome).toMatchObject({ status: "rejected", reason: refusal });
  }
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe(canary);
}

describe("a root", () => {
  it.each([
    "../outside/secret.txt",
    "a/../../outside/secret.txt",
    "..\\outside\\secret.txt",
  ])("is not left by the path %j (A34)", async (path) => attack(path));

  it("is not left by an absolute path, nor by one with the same prefix (A34)", async () => {
    await attack(join(place.outside, "secret.txt"));
    const evil = `${place.path}-evil`;
    mkdirSync(evil);
    await attack(join(evil, "secret.txt"));
    expect(readdirSync(evil)).toEqual([]);
  });

  it("accepts an absolute path inside it", async () => {
    place.put("a.txt", "inside");
    expect(await place.text("read_file", { path: join(place.path, "a.txt") })).toBe("inside");
  });

  it("is not left by a link to a file, to a folder, or through other links (A35)", async () => {
    const { path, outside } = place;
    symlinkSync(join(outside, "secret.txt"), join(path, "file"));
    symlinkSync(outside, join(path, "folder"));
    symlinkSync("folder", join(path, "chain"));
    symlinkSync("../outside/secret.txt", join(path, "relative"));
    symlinkSync(join(outside, "new.txt"), join(path, "dangling"));
    for (const link of [
      "file",
      "folder/secret.txt",
      "folder/new.txt",
      "chain/secret.txt",
      "relative",
      "dangling",
    ])
      await attack(link);
  });

  it("is not left by a link in a parent folder, even if folders would be created (A35)", async () => {
    mkdirSync(join(place.path, "a"));
    symlinkSync(place.outside, join(place.path, "a/b"));
    await attack("a/b/secret.txt");
    await attack("a/b/c/d/new.txt");
  });

  it("may be a link itself, which is resolved once (A35)", async () => {
    const link = join(place.outside, "../link");
    symlinkSync(place.path, link);
    place.put("a.txt", "inside");
    const tools = fileTools({ root: link });
    expect(await callFileTool(tools, "read_file", { input: { path: "a.txt" } })).toBe("inside");
    expect(await callFileTool(tools, "read_file", { input: { path: join(link, "a.txt") } })).toBe("inside");
  });

  it("that is swapped with a link later is not followed (A35)", async () => {
    place.put("secret.txt", "inside");
    renameSync(place.path, `${place.path}-parked`);
    symlinkSync(place.outside, place.path);
    await expect(place.call("read_file", { path: "secret.txt" })).rejects.toMatchObject(refusal);
    await expect(place.call("write_file", { path: "new.txt", content: "" })).rejects.toMatchObject(refusal);
    expect(readdirSync(place.outside)).toEqual(["secret.txt"]);
  });

  it.each(["/proc", "/sys/kernel", "/proc/self/fd"])("cannot be %s (A38)", (path) => {
    expect(() => fileTools({ root: path })).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  });

  it("must exist", () => {
    const root = join(place.path, "typo");
    expect(() => fileTools({ root })).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  });
});

describe("hard links", () => {
  it("are read unless the root is strict (A37)", async () => {
    linkSync(join(place.outside, "secret.txt"), join(place.path, "linked.txt"));
    expect(await place.text("read_file", { path: "linked.txt" })).toBe(canary);
    const strict = fileTools({ root: place.path, strict: true });
    const calls = { read_file: {}, write_file: { content: "evil" }, edit_file: { edits } };
    for (const [tool, input] of Object.entries(calls)) {
      const called = callFileTool(strict, tool, { input: { path: "linked.txt", ...input } });
      await expect(called).rejects.toMatchObject(refusal);
    }
    expect(await callFileTool(strict, "search_files", { input: { query: "CANARY" } })).toBe(
      "No matches found.",
    );
  });

  it("are replaced, not written through: the other name keeps its content (A37)", async () => {
    linkSync(join(place.outside, "secret.txt"), join(place.path, "linked.txt"));
    await place.call("write_file", { path: "linked.txt", content: "mine" });
    expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe(canary);
  });

  it.each([".env", ".git/config"])("to %s are refused, whatever they are called (A40)", async (file) => {
    linkSync(place.put(file, canary), join(place.path, "harmless.txt"));
    mkdirSync(join(place.path, "deep"));
    linkSync(join(place.path, file), join(place.path, "deep/harmless.txt"));
    for (const path of ["harmless.txt", "deep/harmless.txt"])
      await expect(place.call("read_file", { path })).rejects.toMatchObject(refusal);
    expect(await place.text("search_files", { query: "CANARY" })).toBe("No matches found.");
  });
});

describe("an entry that is not a regular file", () => {
  it("is refused without waiting for it: a pipe (A38)", async () => {
    execFileSync("mkfifo", [join(place.path, "pipe")]);
    await attack("pipe");
    expect(await place.text("list_files", {})).toBe("pipe (device, pipe or socket)");
  });

  it("is refused: a socket (A38)", async () => {
    const server = createServer(() => expect.unreachable("somebody connected"));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => {
      server.listen(join(place.path, "socket"), resolve);
    });
    await attack("socket");
  });

  it("is refused: a device (A38)", async ({ skip }) => {
    try {
      execFileSync("mknod", [join(place.path, "zero"), "c", "1", "5"], { stdio: "ignore" });
    } catch {
      skip("only root can make devices");
    }
    await attack("zero");
  });

  it
    .runIf(process.platform === "linux")
    .each([
      ...["proc/self/environ", "proc/self/fd/0", "proc/self/root/etc/hostname", "proc/version"],
      ...[
        "sys/kernel/mm/transparent_hugepage/enabled",
        "sys/kernel/notes",
        "dev/zero",
        "dev/null",
        "dev/tty",
      ],
    ])("is refused, even when the root is the whole disk: %s (A38)", async (path) => {
    const tools = fileTools({ root: "/", readOnly: true });
    const called = callFileTool(tools, "read_file", { input: { path } });
    await expect(called).rejects.toMatchObject({ code: expect.stringMatching(/^(?:security|not_found)$/) });
  });

  it("is distinguished from a folder", async () => {
    place.put("folder/a.txt", "");
    await expect(place.call("read_file", { path: "folder" })).rejects.toMatchObject({
      code: "bad_arguments",
    });
    await expect(place.call("read_file", { path: "." })).rejects.toMatchObject({ code: "bad_arguments" });
    await expect(place.call("list_files", { path: "folder/a.txt" })).rejects.toMatchObject({
      code: "bad_arguments",
    });
  });
});

describe("protected files", () => {
  const protectedPaths = [
    ...[
      ".env",
      ".ENV",
      ".env.local",
      ".git/config",
      ".Git/hooks/pre-commit",
      ".ssh/id_rsa",
      ".bashrc",
      ".zshrc",
    ],
    ...["node_modules/.bin/tsc", "packages/a/.env", ".g\u200bit/config"],
  ];
  it.each(protectedPaths)("are neither read nor written: %j (A40)", async (path) => {
    place.put(path, canary);
    await attack(path);
    expect(readFileSync(join(place.path, path), "utf8")).toBe(canary);
  });

  it.each(protectedPaths)("are not created either: %j (A40)", async (path) => {
    const called = place.call("write_file", { path, content: "evil" });
    await expect(called).rejects.toMatchObject(refusal);
    expect(readdirSync(place.path)).toEqual([]);
  });

  it("are not in lists and searches (A40)", async () => {
    for (const path of [".env", ".git/config", "node_modules/.bin/x", "a.txt"]) place.put(path, "CANARY");
    expect(await place.text("list_files", { depth: 9 })).toBe("a.txt\nnode_modules/");
    expect(await place.text("list_files", { path: "node_modules", depth: 9 })).toBe("No files found.");
    expect(await place.text("search_files", { query: "CANARY" })).toBe("a.txt:1: CANARY");
  });

  it("can be configured, such as the program's own database, and are recognized by identity (A40)", async () => {
    const database = place.put("data/own.db", canary);
    place.put("data/own.db-wal", canary);
    linkSync(database, join(place.path, "copy.txt"));
    const tools = fileTools({ root: place.path, protect: ["data/own.db", "config"] });
    const paths = ["data/own.db", "DATA/OWN.DB", "data/own.db-wal", "copy.txt", "config", "config/a/b.json"];
    for (const path of paths) {
      for (const [tool, input] of Object.entries({
        read_file: {},
        write_file: { content: "evil" },
        edit_file: { edits },
      }))
        await expect(callFileTool(tools, tool, { input: { path, ...input } })).rejects.toThrow();
    }
    expect(await callFileTool(tools, "list_files", { input: { depth: 3 } })).toBe("copy.txt\ndata/");
    expect(await callFileTool(tools, "search_files", { input: { query: "CANARY" } })).toBe(
      "No matches found.",
    );
    expect(readdirSync(place.path).sort()).toEqual(["copy.txt", "data"]);
    expect(readFileSync(database, "utf8")).toBe(canary);
  });

  it("can be configured before they exist", async () => {
    const tools = fileTools({ root: place.path, protect: ["own.db"] });
    for (const path of ["own.db", "own.db-wal", "OWN.db"]) {
      const called = callFileTool(tools, "write_file", { input: { path, content: "evil" } });
      await expect(called).rejects.toMatchObject(refusal);
    }
  });
});

describe("a name in another Unicode form", () => {
  it("is the same file, however its accents are stored (A39)", async () => {
    place.put("cafe\u0301.txt", "decomposed");
    place.put("u\u0308ber/x.txt", "in a folder");
    expect(await place.text("read_file", { path: "caf\u00e9.txt" })).toBe("decomposed");
    expect(await place.text("read_file", { path: "cafe\u0301.txt" })).toBe("decomposed");
    expect(await place.text("read_file", { path: "\u00fcber/x.txt" })).toBe("in a folder");
    await place.call("write_file", { path: "caf\u00e9.txt", content: "new" });
    expect(readdirSync(place.path)).toHaveLength(2);
    expect(readFileSync(join(place.path, "cafe\u0301.txt"), "utf8")).toBe("new");
  });

  it("that is not valid text does no harm (A39)", async () => {
    const { path } = place;
    const bytes = Buffer.concat([Buffer.from(`${path}/bad`), Buffer.from([0xff, 0xfe])]);
    (await import("node:fs")).writeFileSync(bytes, "CANARY");
    place.put("two\nlines", "CANARY");
    expect(await place.text("list_files", {})).toBe("bad\ufffd\ufffd\ntwo\\u{a}lines");
    expect(await place.text("search_files", { query: "CANARY" })).toBe("two\\u{a}lines:1: CANARY");
  });
});

describe("a system without directory handles", () => {
  const withDirectoryByPath = <Value>(names: string[], use: (directory: Directory) => Promise<Value>) =>
    withDirectory({ ...resolveRoot({ root: place.path }), byHandle: false }, names, use);
  const read = (folder: string[], name: string) =>
    withDirectoryByPath(folder, async (directory) => {
      const { handle } = await openFile(directory, name);
      return handle.readFile("utf8").finally(() => handle.close());
    });

  it("still reads, writes and lists", async () => {
    place.put("a/b.txt", "inside");
    expect(await read(["a"], "b.txt")).toBe("inside");
    const content = Buffer.from("new");
    await withDirectoryByPath(["a"], (directory) =>
      replaceInDirectory(directory, { name: "c.txt", content, previous: undefined }),
    );
    expect(readdirSync(join(place.path, "a"))).toEqual(["b.txt", "c.txt"]);
    const walk = createWalk(defaultLimits, { depth: 2, signal: new AbortController().signal });
    const listed: string[] = [];
    await withDirectoryByPath([], async (directory) => {
      for await (const { name } of walkDirectory(directory, walk)) listed.push(name);
    });
    expect(listed).toEqual(["a", "b.txt", "c.txt"]);
  });

  it("refuses links and protected files too (A35, A40)", async () => {
    symlinkSync(place.outside, join(place.path, "folder"));
    symlinkSync(join(place.outside, "secret.txt"), join(place.path, "file"));
    place.put(".env", canary);
    await expect(read(["folder"], "secret.txt")).rejects.toMatchObject(refusal);
    await expect(read([], "file")).rejects.toMatchObject(refusal);
    await expect(read([], ".env")).rejects.toMatchObject(refusal);
  });
});

it("nothing is executed: a path with shell characters is an ordinary name (A45)", async () => {
  const mark = join(place.outside, "ran");
  for (const path of [
    `$(touch ${mark})`,
    `\`touch ${mark}\``,
    `; touch ${mark}`,
    `a && touch ${mark}`,
    `| touch ${mark}`,
  ]) {
    await place.call("read_file", { path }).catch(() => undefined);
    await place.call("write_file", { path: path.replaceAll("/", ""), content: "x" });
    await place.call("search_files", { query: path, glob: path });
  }
  expect(readdirSync(place.outside)).toEqual(["secret.txt"]);
});
