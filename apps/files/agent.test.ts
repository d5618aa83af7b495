import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { about, files, policy, studioPolicy } from "./agent.ts";
import { sampleWorkspace } from "./workspace.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the files app", () => {
  it("has the policy of a loop without an upper bound, whose client keeps the history (S1-03, S1-11, S1-26)", () => {
    expect(policy).toEqual({
      maxTurns: "unlimited",
      wrapUpAt: 0,
      finalTurn: "keep-tools",
      onLimit: ["best-effort"],
      toolExecution: "sequential",
      retry: { maxAttempts: 1 },
      onAllToolsFailed: "continue",
      maxToolResultSize: "unlimited",
      memory: "client",
      requireToolFirst: false,
      summaries: false,
    });
  });

  it("in the studio ends after 25 turns and remembers", () => {
    expect(studioPolicy).toEqual({ ...policy, maxTurns: 25, memory: "session" });
  });

  it("offers the five file tools; only reading them asks nobody (S1-23)", async () => {
    const { tools, policy: own } = await files({ model: scriptedModel([]), root: folder });
    expect(
      [...tools.values()].map(({ name, effects, needsApproval }) => [name, effects, !!needsApproval]),
    ).toEqual([
      ["read_file", "none", false],
      ["list_files", "none", false],
      ["search_files", "none", false],
      ["write_file", "state", true],
      ["edit_file", "state", true],
    ]);
    expect(own).toBe(policy);
  });

  it("knows how the files of a language end, for the model too", async () => {
    const { tools } = await files({ model: scriptedModel([]), root: folder });
    const list = tools.get("list_files");
    const wanted = { phrase: "list all python files", input: { glob: "*.py" } };
    expect(list?.examples).toContainEqual(wanted);
    expect(list?.schema.json.examples).toContainEqual(wanted);
    // What the tool knows by itself stays.
    expect(list?.examples).toContainEqual({ phrase: "list the files" });
  });

  it("tells people what to say", () => {
    expect(about.suggestions).toHaveLength(4);
  });
});

describe("the workspace", () => {
  it("is a copy of the sample, which keeps what was changed in it", () => {
    const copy = sampleWorkspace(folder);
    expect(readFileSync(join(copy, "example.py"), "utf8")).toContain("def greet(name):\n    config");
    writeFileSync(join(copy, "sample.txt"), "changed");
    expect(sampleWorkspace(folder)).toBe(copy);
    expect(readFileSync(join(copy, "sample.txt"), "utf8")).toBe("changed");
  });

  it("is not made anew where something is already", () => {
    mkdirSync(join(folder, "files-workspace"));
    expect(() => readFileSync(join(sampleWorkspace(folder), "sample.txt"))).toThrow(/ENOENT/);
  });

  it("is copied for its owner alone, and whole or not at all", () => {
    const home = join(folder, "data");
    expect(statSync(sampleWorkspace(home)).mode & 0o777).toBe(0o700);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(readdirSync(home)).toEqual(["files-workspace"]);
  });
});
