import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";
import { startCommandInPty } from "../../testing/pty.ts";

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
});
afterEach(() => project.remove());

const hasShell = (name: string) => spawnSync(name, ["-c", "true"]).status === 0;

async function writeScript(shell: string): Promise<string> {
  const { code, stdout } = await runCli(["completion", shell], project);
  expect(code).toBe(0);
  const file = join(project.folder, `capstan.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

/** What is typed, and some of the words that must and must not be offered. */
const cases: readonly (readonly [typed: string, offered: readonly string[], not: readonly string[]])[] = [
  ["capstan se", ["sessions", "serve"], ["doctor", "--session-id"]],
  ["capstan sessions ", ["list", "export", "rename"], ["doctor", "bash"]],
  ["capstan serve --st", ["--studio", "--stream-json"], ["--port"]],
  ["capstan --approve ", ["ask", "all", "none"], ["sessions"]],
  ["capstan completion ", ["bash", "zsh", "fish"], ["sessions"]],
];

describe("a completion script", () => {
  it("is refused for an unknown shell, with the known ones", async () => {
    const { code, stderr } = await runCli(["completion", "tcsh"], project);
    expect(code).toBe(2);
    expect(stderr).toContain("Allowed choices are bash, zsh, fish");
  });

  it.skipIf(!hasShell("bash"))("completes commands, options and choices in bash", async () => {
    const file = await writeScript("bash");
    for (const [typed, offered, not] of cases) {
      const words = typed.split(" ");
      const script = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _capstan; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync("bash", ["-c", script, file, ...words], { encoding: "utf8" });
      expect(stderr).toBe("");
      expect(stdout.trim().split("\n")).toEqual(expect.arrayContaining([...offered]));
      for (const word of not) expect(stdout.split("\n")).not.toContain(word);
    }
  });

  it.skipIf(!hasShell("fish"))("completes commands, options and choices in fish", async () => {
    const file = await writeScript("fish");
    for (const [typed, offered, not] of cases) {
      const { stdout, stderr } = spawnSync("fish", ["-N", "-c", `source ${file}; complete -C "${typed}"`], {
        encoding: "utf8",
        env: { ...project.env, TERM: "dumb" },
      });
      expect(stderr).toBe("");
      const found = stdout.split("\n").map((line) => line.split("\t")[0]);
      expect(found).toEqual(expect.arrayContaining([...offered]));
      for (const word of not) expect(found).not.toContain(word);
    }
  });

  it.skipIf(!hasShell("zsh"))("completes commands, options and choices in zsh", async () => {
    const file = await writeScript("zsh");
    for (const [typed, offered, not] of cases) {
      await using shell = startCommandInPty(["/bin/sh", "-c", "exec zsh -f"], {
        env: { ...project.env, TERM: "xterm", PS1: "ready> " },
        cwd: project.folder,
        columns: 100,
      });
      await shell.waitFor("ready>");
      shell.type(
        `autoload -U compinit; compinit -u -D; source ${file}; zstyle ':completion:*' menu no; clear\r`,
      );
      await shell.waitFor(/^ready>\s*$/);
      shell.type(`${typed}\t\t`);
      const screen = await shell.waitFor(new RegExp(`(?:^|\\s)${offered[0]}\\b`, "m"));
      for (const word of offered) expect(screen).toContain(word);
      for (const word of not)
        expect(screen.replace(typed, "")).not.toMatch(new RegExp(`(?:^|\\s)${word}\\b`, "m"));
    }
  });
});
