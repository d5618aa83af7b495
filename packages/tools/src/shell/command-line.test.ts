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
    ["git log --oneline --stat", "git log *"],
    ["git diff --exit-code main", "git diff *"],
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
    ...["git diff --output=x", "git log --outp x", "git show --ou=x", "git blame --output x y"],
    ...["git diff --ext-diff", "git log -p --ext"],
    ...["git add x", "git commit -F x", "git checkout x", "git reset --hard", "git stash", "git restore x"],
    ...["git branch -D x", "git tag -F x", "git switch x"],
    ...["npm exec x", "npm install x", "npm ls --logs-dir=x", "npm test --script-shell=x"],
    ...["npm run build", "npm run build --script-shell=x", "pnpm run build", "yarn test", "bun test"],
    ...["cargo build --config x", "cargo test", "cargo fmt"],
    ...["go test -exec x", "go build -toolexec x", "go vet -vettool=x", "go fmt"],
    ...["eslint -c x", "prettier --plugin x", "biome check --config-path x", "ruff check --output-file x"],
    ...["tsc --outFile x", "vitest --config x", "jest --config x", "pytest -p x", "mypy --config-file x"],
    ...["uniq in out", "tree -o x", "file -C -m x", "date -s x", "sort -o x", "tee x", "dd of=x"],
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
