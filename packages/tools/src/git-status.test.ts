import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { ToolReturn } from "capstan";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callFileTool } from "./files/testing/temporary-root.ts";
import { gitStatus, isGitRepository } from "./git-status.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "capstan-git-")));
  root = join(base, "repository");
  mkdirSync(root);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
const git = (...args: string[]) =>
  execFileSync("git", [...author, ...args], {
    cwd: root,
    stdio: "pipe",
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  });
const put = (path: string, content: string) => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), content);
};
const commit = () => {
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "Start");
};
const call = (input: object = {}, options: object = {}) =>
  callFileTool([gitStatus({ root, ...options })], "git_status", { input }) as Promise<ToolReturn>;
const show = async (input: object = {}) => String((await call(input)).content);

describe("git_status", () => {
  it("shows the branch and the changed files", async () => {
    for (const name of ["changed.txt", "staged.txt", "gone.txt", "with space.txt"]) put(name, "old\n");
    commit();
    expect(await show()).toBe("Branch main.\nNo changes since the last commit.");
    put("changed.txt", "new\n");
    put("with space.txt", "new\n");
    put("staged.txt", "new\n");
    put("added.txt", "new\n");
    git("add", "staged.txt", "added.txt");
    put("notes/untracked.txt", "new\n");
    rmSync(join(root, "gone.txt"));
    expect((await show()).split("\n")).toEqual([
      "Branch main.",
      "added (staged): added.txt",
      "modified: changed.txt",
      "deleted: gone.txt",
      "modified (staged): staged.txt",
      "modified: with space.txt",
      "untracked: notes/",
    ]);
  });

  it("shows the distance to the upstream branch, a detached head, and a repository without commits", async () => {
    git("init", "-q", "-b", "first");
    put("a.txt", "one\n");
    expect(await show()).toBe("Branch first, no commits yet.\nuntracked: a.txt");
    commit();
    git("branch", "upstream");
    git("branch", "-q", "--set-upstream-to=upstream");
    put("a.txt", "two\n");
    git("commit", "-q", "-a", "-m", "Two");
    expect(await show()).toContain("Branch first, 1 ahead of and 0 behind upstream.");
    git("checkout", "-q", "--detach");
    expect(await show()).toMatch(/^No branch, at commit [0-9a-f]{8}\./);
  });

  it("shows the changes of one file since the last commit, for the model and as a diff for the user", async () => {
    put("src/a.txt", "one\ntwo\n");
    commit();
    put("src/a.txt", "one\n2\n");
    const diff = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    expect(await call({ path: "src/a.txt" })).toEqual({
      content: `"src/a.txt" since the last commit (lines: 1 added, 1 removed):\n${diff}`,
      ui: { kind: "diff", props: { path: "src/a.txt", diff } },
    });
    put("new.txt", "x\n");
    expect(await show({ path: "new.txt" })).toContain("--- /dev/null\n+++ b/new.txt");
    rmSync(join(root, "src"), { recursive: true });
    expect(await show({ path: "src/a.txt" })).toContain("+++ /dev/null");
    await expect(call({ path: "missing.txt" })).rejects.toMatchObject({ code: "not_found" });
  });

  it("works in a folder of a repository, and shows only that folder", async () => {
    put("top.txt", "old\n");
    put("inner/a.txt", "old\n");
    commit();
    put("top.txt", "new\n");
    put("inner/a.txt", "new\n");
    const tool = gitStatus({ root: join(root, "inner") });
    const read = async (input: object) =>
      ((await callFileTool([tool], "git_status", { input })) as ToolReturn).content;
    expect(await read({})).toBe("Branch main.\nmodified: a.txt");
    expect(await read({ path: "a.txt" })).toContain("-old\n+new\n");
    await expect(read({ path: "../top.txt" })).rejects.toMatchObject({ code: "security" });
  });

  it("shows no protected file and no content behind a link (A40)", async () => {
    put(".env", "KEY=old\n");
    put("a.txt", "old\n");
    put("folder/.env", "KEY=old\n");
    commit();
    put(".env", "KEY=canary\n");
    put("folder/.env", "KEY=canary\n");
    writeFileSync(join(base, "outside.txt"), "canary");
    rmSync(join(root, "a.txt"));
    symlinkSync(join(base, "outside.txt"), join(root, "a.txt"));
    expect(await show()).toBe("Branch main.\ntype changed: a.txt");
    for (const path of [".env", "folder/.env", "a.txt"])
      await expect(call({ path })).rejects.toMatchObject({ code: "security" });
    await expect(call({ path: "folder" })).rejects.toMatchObject({ code: "bad_arguments" });
  });

  it("labels names and content from outside as untrusted (A101)", async () => {
    put("downloads/page.txt", "old\n");
    put("mine.txt", "old\n");
    commit();
    put("mine.txt", "new\n");
    expect(await call()).not.toHaveProperty("reads");
    put("downloads/page.txt", "new\n");
    expect(await call()).toMatchObject({ reads: ["untrusted"] });
    expect(await call({ path: "downloads/page.txt" })).toMatchObject({ reads: ["untrusted"] });
    expect(await call({ path: "mine.txt" })).not.toHaveProperty("reads");
    expect(gitStatus({ root, provenance: "external" })).toMatchObject({
      ...{ effects: "none", reads: ["private", "untrusted"] },
    });
  });

  it("says if the folder is no repository, or if git is not installed", async () => {
    expect(await isGitRepository(root)).toBe(false);
    await expect(call()).rejects.toMatchObject({ message: "This folder is not in a git repository." });
    put("a.txt", "");
    commit();
    expect(await isGitRepository(root)).toBe(true);
    vi.stubEnv("PATH", base);
    expect(await isGitRepository(root)).toBe(false);
    await expect(call()).rejects.toThrow("The program git was not found");
  });
});

describe("a repository prepared by someone else", () => {
  let canary: string;
  let program: string;
  /** A program that leaves a trace and passes its input on. */
  beforeEach(() => {
    canary = join(base, "canary");
    program = join(base, "evil.sh");
    writeFileSync(program, `#!/bin/sh\ntouch ${canary}\ncat\n`);
    chmodSync(program, 0o755);
    put("a.txt", "old\n");
    commit();
  });
  /** Changes the file, so that git has to compare its content. */
  const runBoth = async () => {
    put("a.txt", "new\n");
    const text = await show();
    await show({ path: "a.txt" });
    return text;
  };

  it.each<[string, (path: string) => void]>([
    ["file system monitor", (path) => git("config", "core.fsmonitor", path)],
    ["content filter", (path) => setFilter("clean", path)],
    [
      "filter process that is required",
      (path) => {
        setFilter("process", path);
        git("config", "filter.evil=x.y.required", "true");
      },
    ],
    [
      "filter in an included file",
      (path) => {
        put(".gitattributes", "* filter=evil=x.y\n");
        writeFileSync(join(base, "included"), `[filter "evil=x.y"]\n  CLEAN = ${path}\n`);
        git("config", "include.path", join(base, "included"));
      },
    ],
    [
      "hook",
      (path) => {
        const hooks = join(root, ".git/hooks");
        mkdirSync(hooks, { recursive: true });
        for (const name of ["post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout"])
          symlinkSync(path, join(hooks, name));
      },
    ],
    [
      "diff program",
      (path) => {
        git("config", "diff.external", path);
        git("config", "diff.evil.command", path);
        git("config", "diff.evil.textconv", path);
        put(".gitattributes", "* diff=evil\n");
      },
    ],
    [
      "pager and alias",
      (path) => {
        git("config", "core.pager", path);
        git("config", "pager.status", path);
        git("config", "alias.status", `!${path}`);
      },
    ],
    [
      "program in the folder named git",
      (path) => {
        symlinkSync(path, join(root, "git"));
        vi.stubEnv("PATH", [root, ".", process.env.PATH].join(delimiter));
      },
    ],
  ])("does not start its %s", async (_, prepare) => {
    prepare(program);
    expect(await runBoth()).toContain("modified: a.txt");
    expect(existsSync(canary)).toBe(false);
  });

  function setFilter(field: string, path: string): void {
    put(".gitattributes", "* filter=evil=x.y\n");
    git("config", `filter.evil=x.y.${field}`, path);
  }

  it("would start these programs with plain git, so the canary works", () => {
    setFilter("clean", program);
    put("a.txt", "new\n");
    git("status");
    expect(existsSync(canary)).toBe(true);
  });

  it("does not start programs of a submodule", async () => {
    const inner = join(root, "inner");
    mkdirSync(inner);
    execFileSync("git", ["init", "-q"], { cwd: inner });
    writeFileSync(join(inner, "b.txt"), "old");
    execFileSync("git", ["add", "-A"], { cwd: inner });
    execFileSync("git", [...author, "commit", "-q", "-m", "Inner"], { cwd: inner });
    git("add", "inner");
    git("commit", "-q", "-m", "Add a submodule");
    execFileSync("git", ["config", "filter.inner.clean", program], { cwd: inner });
    writeFileSync(join(inner, ".gitattributes"), "* filter=inner\n");
    writeFileSync(join(inner, "b.txt"), "new");
    await runBoth();
    expect(existsSync(canary)).toBe(false);
  });

  it("does not start a program to fetch a missing object", async () => {
    const id = git("rev-parse", "HEAD:a.txt").toString().trim();
    rmSync(join(root, ".git/objects", id.slice(0, 2), id.slice(2)));
    for (const [name, value] of [
      ...[["remote.origin.url", `ext::${program}`] as const, ["remote.origin.promisor", "true"] as const],
      ...[["protocol.ext.allow", "always"] as const, ["extensions.partialClone", "origin"] as const],
    ])
      git("config", name, value);
    git("config", "core.repositoryFormatVersion", "1");
    put("a.txt", "new\n");
    await expect(call({ path: "a.txt" })).rejects.toThrow("Git cannot read the repository.");
    expect(existsSync(canary)).toBe(false);
  });

  it("is ignored if it is a bare repository that lies in a folder", async () => {
    const bare = join(base, "download");
    execFileSync("git", ["init", "-q", "--bare", bare]);
    execFileSync("git", ["config", "core.fsmonitor", program], { cwd: bare });
    execFileSync("git", ["config", "core.bare", "false"], { cwd: bare });
    execFileSync("git", ["config", "core.worktree", bare], { cwd: bare });
    expect(await isGitRepository(bare)).toBe(false);
    expect(existsSync(canary)).toBe(false);
  });
});
