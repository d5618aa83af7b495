import { describe, expect, it } from "vitest";
import { findPattern, formatCommand } from "./command-line.ts";

describe("a command, as the user reads it", () => {
  it("is quoted like in a shell, and shows what is invisible", () => {
    expect(
      formatCommand({ command: ["git", "commit", "-m", "it's done", "--", "a\u202eb", "x\ny", ""] }),
    ).toBe(String.raw`git commit -m 'it'\''s done' -- 'a\u{202e}b' 'x\u{a}y' ''`);
    expect(formatCommand({ script: "echo 1\n\u001b[2Kecho 2" })).toBe("echo 1\n\\u{1b}[2Kecho 2");
  });
});

describe("the pattern of a command (A108)", () => {
  it.each([
    ["git status --short", "git status *"],
    ["git log -p", "git log *"],
    ["npm test", "npm test *"],
    ["npm run build:all -- --watch", "npm run build:all *"],
    ["cargo clippy", "cargo clippy *"],
    ["ls -la", "ls *"],
  ])("%s: %s", (command, pattern) => {
    expect(findPattern({ command: command.split(" ") })).toBe(pattern);
  });

  it.each([
    "git",
    "git -c core.pager=x status",
    "git push origin",
    "git fetch --upload-pack=x",
    "git grep -O",
    "git config x",
    "npm exec x",
    "npm install x",
    "npm run --script-shell=x build",
    "find . -exec rm",
    "rg --pre x",
    "sh -c x",
    "bash x",
    "env ls",
    "sudo ls",
    "xargs rm",
    "node -e x",
    "python3 -c x",
    "rm -rf x",
    "curl x",
    "./ls",
    "/bin/ls",
    "constructor",
    "",
  ])("there is none for %j", (command) => {
    expect(findPattern({ command: command.split(" ") })).toBeUndefined();
  });

  it("there is none for scripts, whatever they say", () => {
    expect(findPattern({ script: "git status" })).toBeUndefined();
  });
});
