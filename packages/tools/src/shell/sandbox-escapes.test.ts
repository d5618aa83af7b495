// What a command in the sandbox may leave behind for programs outside, and where it may look for credentials. Each attack
// on git also runs without a sandbox, to show that it is effective.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { shellTool } from "../shell-tool.ts";
import { findProtected } from "./find-protected.ts";
import {
  callShell,
  canary,
  createTemporaryShell,
  hasBubblewrap,
  type TemporaryShell,
} from "./testing/temporary-shell.ts";
import { toBytes } from "./walk-tree.ts";

let shell: TemporaryShell;
afterEach(() => shell.remove());
const open = (options: Parameters<typeof createTemporaryShell>[0] = { sandbox: "required" }) => {
  shell = createTemporaryShell(options);
  return shell;
};

function write(file: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
}

const environment = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" },
};

/** Git as the user runs it, outside. */
function git(cwd: string, ...args: string[]): string {
  return spawnSync("git", args, { cwd, env: environment, encoding: "utf8" }).stdout;
}

function createRepository(folder: string): void {
  write(join(folder, "tracked.txt"), "one\n");
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", "first");
}

/** Runs `git status` in every folder below the working folder, and returns whether a planted program was executed. */
function isExecutedByGit({ cwd, outside }: TemporaryShell): boolean {
  const files = readdirSync(cwd, { withFileTypes: true, recursive: true });
  for (const entry of files) {
    // A file that looks changed makes git write its index, which calls a hook.
    if (entry.name === "tracked.txt") utimesSync(join(entry.parentPath, entry.name), 1, 1);
  }
  const folders = files
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const folder of [cwd, ...folders]) git(folder, "status");
  return existsSync(join(outside, "executed"));
}

// Every attack starts with a program that only works outside: the sandbox does not have the folder that it writes to.
const plant = (folder: string) =>
  `printf '#!/bin/sh\\ntouch ${folder}/executed\\n' > evil.sh; chmod +x evil.sh; EVIL="$PWD/evil.sh"; `;
const createBare = (folder: string) =>
  `mkdir -p ${folder}/objects ${folder}/refs; echo 'ref: refs/heads/main' > ${folder}/HEAD; printf "[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\nfsmonitor = $EVIL\\n" > ${folder}/config`;

type Attack = {
  readonly name: string;
  prepare?(shell: TemporaryShell): void;
  readonly script: string;
};

const attacks: readonly Attack[] = [
  {
    name: "replaces .git by a copy with a file system monitor",
    prepare: ({ cwd }) => createRepository(cwd),
    script: `mv .git g && cp -r g .git; git config core.fsmonitor "$EVIL"`,
  },
  {
    name: "adds a hook to .git",
    prepare: ({ cwd }) => createRepository(cwd),
    script: 'mkdir -p .git/hooks; cp "$EVIL" .git/hooks/post-index-change',
  },
  {
    name: "moves the hooks away and adds its own",
    prepare: ({ cwd }) => createRepository(cwd),
    script: 'mv .git/hooks .git/h; mkdir .git/hooks; cp "$EVIL" .git/hooks/post-index-change',
  },
  {
    name: "redirects .git with commondir",
    prepare: ({ cwd }) => createRepository(cwd),
    script: `cp -r .git common; git config -f common/config core.fsmonitor "$EVIL"; echo ../common > .git/commondir`,
  },
  {
    name: "writes config.worktree",
    prepare({ cwd }) {
      createRepository(cwd);
      git(cwd, "config", "extensions.worktreeConfig", "true");
    },
    script: 'git config -f .git/config.worktree core.fsmonitor "$EVIL"',
  },
  {
    name: "creates a repository in a folder that is none",
    script: 'git init -q; git config core.fsmonitor "$EVIL"',
  },
  {
    name: "creates a repository in a subfolder",
    prepare: ({ cwd }) => createRepository(cwd),
    script: 'mkdir -p src/deep; cd src/deep; git init -q; git config core.fsmonitor "$EVIL"',
  },
  {
    name: "creates a .git file that leads to a repository with another name",
    script: `mkdir src; cd src; ${createBare("data")}; echo "gitdir: data" > .git`,
  },
  {
    name: "creates a .git link",
    script: `mkdir src; cd src; ${createBare("data")}; ln -s data .git`,
  },
  {
    name: "makes a subfolder look like a bare repository",
    prepare: ({ cwd }) => createRepository(cwd),
    script: createBare("src"),
  },
  { name: "makes the folder itself look like a bare repository", script: createBare(".") },
  {
    name: "takes the right to list a folder away",
    script: 'mkdir src; cd src; git init -q; git config core.fsmonitor "$EVIL"; cd ..; chmod 111 src',
  },
  {
    name: "changes the configuration of a nested repository",
    prepare({ cwd }) {
      createRepository(cwd);
      createRepository(join(cwd, "libs/nested"));
    },
    script: 'git -C libs/nested config core.fsmonitor "$EVIL"',
  },
  {
    name: "puts another folder in the place of a submodule",
    prepare({ cwd, outside }) {
      createRepository(join(outside, "library"));
      createRepository(cwd);
      const allowed = ["-c", "protocol.file.allow=always"];
      git(cwd, ...allowed, "submodule", "--quiet", "add", join(outside, "library"), "libs/sub");
      git(cwd, "commit", "-q", "-m", "submodule");
    },
    script: 'mv libs old; mkdir -p libs/sub; cd libs/sub; git init -q; git config core.fsmonitor "$EVIL"',
  },
  {
    name: "changes the hooks in a folder that core.hooksPath names",
    prepare({ cwd }) {
      createRepository(cwd);
      git(cwd, "config", "core.hooksPath", ".husky/_");
      write(join(cwd, ".husky/_/pre-commit"), "#!/bin/sh\n", 0o755);
    },
    script: 'mv .husky old; mkdir -p .husky/_; cp "$EVIL" .husky/_/post-index-change',
  },
  {
    name: "creates the folder that core.hooksPath names",
    prepare({ cwd }) {
      createRepository(cwd);
      git(cwd, "config", "core.hooksPath", "tools/hooks");
    },
    script: 'mkdir -p tools/hooks; cp "$EVIL" tools/hooks/post-index-change',
  },
  {
    name: "changes the configuration that .git/config includes",
    prepare({ cwd }) {
      createRepository(cwd);
      git(cwd, "config", "include.path", "../settings/git");
      write(join(cwd, "settings/git"), "[user]\nname = a\n");
    },
    script: 'git config -f settings/git core.fsmonitor "$EVIL"',
  },
  {
    name: "changes the program that a setting names",
    prepare({ cwd }) {
      createRepository(cwd);
      write(join(cwd, "tools/monitor"), "#!/bin/sh\n", 0o755);
      git(cwd, "config", "core.fsmonitor", join(cwd, "tools/monitor"));
    },
    script: 'cp "$EVIL" tools/monitor',
  },
];

describe.skipIf(!hasBubblewrap)("a command in the sandbox, and the next git status outside", () => {
  it.each(attacks)("that $name executes nothing (A40)", async ({ prepare, script }) => {
    const target = open();
    prepare?.(target);
    const entries = existsSync(join(target.cwd, ".git")) ? readdirSync(join(target.cwd, ".git")) : undefined;
    await target.script(plant(target.outside) + script);
    const left = existsSync(join(target.cwd, ".git")) ? readdirSync(join(target.cwd, ".git")) : undefined;
    expect(left).toEqual(entries);
    expect(isExecutedByGit(target)).toBe(false);
    // What the first command left is no help for a second one.
    await target.script(plant(target.outside) + script);
    expect(isExecutedByGit(target)).toBe(false);
  });

  it("changes no hook of the main repository of a worktree, also where it may write to it (A40)", async () => {
    const { cwd, outside } = open();
    const main = join(outside, "main");
    createRepository(main);
    git(main, "worktree", "add", "-q", join(cwd, "tree"));
    const { script, remove } = createTemporaryShell({ sandbox: { writable: [main, cwd] } });
    const attack = `cp "$EVIL" ${main}/.git/hooks/post-index-change; git config -f ${main}/.git/config core.fsmonitor "$EVIL"; echo ../../../.. > ${main}/.git/worktrees/tree/commondir`;
    expect(await script(`git -C ${cwd}/tree log --format=%s; ${plant(outside)} ${attack}`)).toContain(
      "first",
    );
    remove();
    git(main, "status");
    expect(isExecutedByGit(shell)).toBe(false);
  });

  it("leaves no trace in a folder that is no repository, and names the repositories that it renamed", async () => {
    const { cwd, script } = open();
    expect(await script("git init -q . ; ls -A")).toMatch(/Read-only file system/);
    expect(readdirSync(cwd)).toEqual([]);
    const output = await script("git init -q new");
    expect(output).toContain(`"${cwd}/new/.git-from-sandbox"`);
    expect(readdirSync(join(cwd, "new"))).toEqual([".git-from-sandbox"]);
    expect(readFileSync(join(cwd, "new/.git-from-sandbox/HEAD-from-sandbox"), "utf8")).toMatch(/^ref: /);
  });

  it("reads its repository, and cannot commit", async () => {
    const { cwd, script } = open();
    createRepository(cwd);
    writeFileSync(join(cwd, "tracked.txt"), "two\n");
    expect(await script("git status --short; git diff; git log --format=%s")).toMatch(
      / M tracked[\s\S]*\+two[\s\S]*first/,
    );
    expect(await script("git -c user.name=a -c user.email=a@b commit -qam second")).toContain(
      "Read-only file system",
    );
    expect(git(cwd, "log", "--format=%s")).toBe("first\n");
  });
});

describe.skipIf(!hasBubblewrap)("credentials in the folder of a command", () => {
  const secret = (cwd: string, file = "apps/web/.env") => write(join(cwd, file), canary);

  it.each([
    [
      "moved into node_modules",
      "mkdir node_modules; mv apps/web node_modules/web",
      "cat node_modules/web/.env",
    ],
    ["moved deeper", "mkdir -p a/b/c/d/e/f; mv apps/web a/b/c/d/e/f", "cat a/b/c/d/e/f/web/.env"],
    ["moved to a name that is no UTF-8", "mkdir $'\\xff'; mv apps $'\\xff'", "cat $'\\xff'/apps/web/.env"],
    [
      "moved to a path that is longer than the system allows",
      'name=$(printf "%0250d" 0); top=$PWD; for i in $(seq 18); do mkdir $name; cd $name; done; mv $top/apps .',
      'name=$(printf "%0250d" 0); for i in $(seq 18); do cd $name || exit; done; cat apps/web/.env',
    ],
    ["in a folder that nobody may read", "chmod 000 apps", "chmod 700 apps; cat apps/web/.env"],
    [
      "copied and linked",
      "cp -r apps copy; ln apps/web/.env hard; ln -s apps soft",
      "cat copy/web/.env hard soft/web/.env",
    ],
    ["renamed", "mv apps/web/.env apps/web/plain", "cat apps/web/plain"],
  ])("stay unreadable when they are %s, in this command and in the next (A40)", async (_name, move, read) => {
    const { cwd, script } = open();
    secret(cwd);
    expect(await script(`(${move}); ${read}; grep -rs CANARY .`)).not.toContain(canary);
    expect(await script(`${read}; grep -rs CANARY .`)).not.toContain(canary);
  });

  it.each([
    ["in node_modules", "node_modules/package/.env"],
    ["ten folders deep", "1/2/3/4/5/6/7/8/9/10/.npmrc"],
    ["in a folder of credentials", "1/2/3/4/5/6/.aws/keys"],
  ])("are hidden %s (A40)", async (_name, file) => {
    const { cwd, script } = open();
    secret(cwd, file);
    expect(await script(`cat ${file}; grep -rs CANARY .`)).not.toContain(canary);
  });

  it("are hidden among 30,000 files (A40)", async () => {
    const { cwd, script } = open();
    for (let folder = 0; folder < 30; folder++) {
      mkdirSync(join(cwd, String(folder)));
      for (let file = 0; file < 1000; file++) writeFileSync(join(cwd, String(folder), String(file)), "");
    }
    secret(cwd, "9/z/.env");
    expect(await script("cat 9/z/.env")).not.toContain(canary);
  });

  it("are hidden where a link with such a name leads", async () => {
    const { cwd, script } = open();
    secret(cwd, "config/production");
    symlinkSync("config/production", join(cwd, ".env"));
    expect(await script("cat .env config/production")).not.toContain(canary);
  });

  it.each([
    "readable",
    "writable",
  ])("are hidden under a second path of the folder that is %s", async (name) => {
    const { cwd, outside } = open();
    secret(cwd);
    symlinkSync(dirname(cwd), join(outside, "second"));
    const tool = shellTool({ cwd, sandbox: { [name]: [join(outside, "second")] } });
    const script = `cat ${outside}/second/project/apps/web/.env apps/web/.env; grep -rs CANARY-o ${outside}/second/project`;
    expect(String((await callShell(tool, { script })).content)).not.toContain(canary);
  });

  it("are too many to hide, or among too many files: the command is refused with the reason", async () => {
    const { cwd, call } = open();
    for (let file = 0; file <= 1000; file++) writeFileSync(join(cwd, `.env.${file}`), "");
    await expect(call({ command: ["true"] })).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringMatching(/more than 1000 files with names such as ".env".* Set `cwd`/),
    });
    await expect(findProtected({ roots: [toBytes(cwd)], maxEntries: 1000 })).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringMatching(/more than 1000 files and folders\. Set `cwd` of shellTool/),
    });
  });

  it("cannot be moved by one command while another starts: commands of a folder run in turn", async () => {
    const { cwd, call, script } = open();
    const first = script("echo first >> log; while [ ! -e go ]; do sleep 0.05; done; echo end >> log");
    const second = script("echo second >> log");
    const stopped = call({ command: ["true"] }, { signal: AbortSignal.abort(new Error("Stopped.")) });
    await expect(stopped).rejects.toThrow("Stopped.");
    const other = createTemporaryShell({ sandbox: "required" });
    expect(await other.script("echo other")).toContain("other");
    other.remove();
    writeFileSync(join(cwd, "go"), "");
    await Promise.all([first, second]);
    expect(readFileSync(join(cwd, "log"), "utf8")).toBe("first\nend\nsecond\n");
  });
});

describe("the attacks on git", () => {
  it.each(attacks)("that $name are effective without a sandbox", async ({ prepare, script }) => {
    const target = open({ sandbox: "off" });
    prepare?.(target);
    const output = await target.script(plant(target.outside) + script);
    if (script.includes("chmod 111")) chmodSync(join(target.cwd, "src"), 0o755);
    expect(isExecutedByGit(target), output).toBe(true);
  });
});
