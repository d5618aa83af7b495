import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadProgress, LoadRequest } from "@capstan/server";
import { type Agent, run } from "capstan";
import { offline } from "capstan/models";
import { collect, scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { folderLoader } from "./own-data.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "capstan-own-files-")));
  root = join(base, "project");
  for (const folder of ["project/src", "source"]) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(root, "src/main.ts"), "const answer = 41; // TODO\n");
  writeFileSync(join(root, "README.md"), "# Project\n");
  writeFileSync(join(root, ".env"), "KEY=canary\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const progress: LoadProgress[] = [];
const createRequest = (options: Partial<LoadRequest> = {}): LoadRequest => ({
  ...{ name: "files-project", title: "project", locations: [root], settings: {} },
  ...{ folder: join(base, "source"), signal: new AbortController().signal },
  onProgress: (one) => progress.push(one),
  ...options,
});
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], { cwd: root });

/** Sends a message, and approves what it asks for. */
async function ask(agent: Agent, text: string) {
  const waiting = run(agent, text);
  const { pending } = await waiting;
  for (const { callId } of pending) waiting.approve(callId);
  return { pending, result: await waiting };
}

describe("the files app on a folder of the user", () => {
  it("is an agent of the requested name, and reports what it read and skipped", async () => {
    const { agents, profile, report } = await folderLoader({ model: offline() }).load(createRequest());
    expect(agents.map(({ name }) => name)).toEqual(["files-project"]);
    expect(profile).toMatchObject({ title: "Files in project" });
    expect(profile.suggestions).not.toContain("What has changed since the last commit?");
    expect(report()).toEqual({
      counts: { files: 2 },
      skipped: [{ item: ".env", reason: expect.stringContaining("credentials") }],
    });
    expect(progress).toContainEqual({ done: 1, item: "src" });
    const [agent] = agents;
    if (!agent) return expect.unreachable();
    const { result } = await ask(agent, "Search for TODO in all files");
    expect(result.text).toContain("src/main.ts:1:");
    expect(result.text).not.toContain("canary");
  });

  it("knows the git status of a repository, without a key", async () => {
    git("init", "-q", "-b", "main");
    git("add", "-A");
    git("commit", "-q", "-m", "Start");
    writeFileSync(join(root, "README.md"), "# My project\n");
    const { agents, profile } = await folderLoader({ model: offline() }).load(createRequest());
    const [agent] = agents;
    if (!agent) return expect.unreachable();
    expect(profile.suggestions).toContain("What has changed since the last commit?");
    const { result } = await ask(agent, "What has changed since the last commit?");
    expect(result.text).toContain("modified: README.md");
    const { result: diff } = await ask(agent, "What has changed in README.md?");
    expect(diff.toolCalls).toMatchObject([
      { name: "git_status", result: expect.stringContaining("+# My project") },
    ]);
  });

  it("shows a diff with line numbers for a change, and undoes it after a restart (S1-23)", async () => {
    const edits = [{ find: "41", replace: "42" }];
    const model = scriptedModel([
      { calls: [{ name: "edit_file", input: { path: "src/main.ts", edits } }] },
      { text: "Changed." },
    ]);
    const [agent] = (await folderLoader({ model }).load(createRequest())).agents;
    if (!agent) return expect.unreachable();
    const waiting = run(agent, "Correct the answer.");
    const diff = "@@ -1,1 +1,1 @@\n-const answer = 41; // TODO\n+const answer = 42; // TODO\n";
    const { pending } = await waiting;
    expect(pending).toMatchObject([{ ui: { props: { diff: expect.stringContaining(diff) } } }]);
    const { facts } = await collect(waiting.approve(pending[0]?.callId ?? ""));
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      ui: {
        props: {
          diff: expect.stringContaining(diff),
          replies: ["Undo the change to src/main.ts"],
        },
      },
    });
    expect(readFileSync(join(root, "src/main.ts"), "utf8")).toContain("42");

    const [later] = (await folderLoader({ model: offline() }).load(createRequest())).agents;
    if (!later) return expect.unreachable();
    const undo = await ask(later, "Undo the change to src/main.ts");
    expect(undo.pending).toMatchObject([
      { name: "undo_change", reason: expect.stringContaining("src/main.ts") },
    ]);
    expect(readFileSync(join(root, "src/main.ts"), "utf8")).toContain("41");
  });

  it("opens uploaded files in their own folder, and refuses several folders", async () => {
    const uploads = join(base, "source/files");
    mkdirSync(uploads);
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(uploads, name), name);
    const loader = folderLoader({ model: offline() });
    const { report } = await loader.load(
      createRequest({ locations: [join(uploads, "a.txt"), join(uploads, "b.txt")] }),
    );
    expect(report().counts).toEqual({ files: 2 });
    for (const locations of [[root, join(base, "source")], [join(root, "README.md")], [join(base, "gone")]])
      await expect(loader.load(createRequest({ locations }))).rejects.toMatchObject({
        code: "invalid_input",
      });
    expect(existsSync(join(base, "undo"))).toBe(false);
  });
});
