import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";

let project: ScratchProject;
const told = (...words: string[]) => runCli(words, project);

beforeAll(() => {
  project = createScratchProject();
});
afterAll(() => project.remove());

describe("quotas", () => {
  it("are set for a user and for all, kept where a flag does not name them, shown and cleared", async () => {
    await told("quotas", "set", "ada", "--runs", "10/minute", "--runs", "500/day", "--cost", "$5/day");
    const { stderr } = await told("quotas", "set", "ada", "--tokens", "2m/day", "--cost", "unlimited");
    expect(stderr).toBe("Quotas of ada: runs 10/minute, 500/day; cost unlimited; tokens 2000000/day\n");
    await told("quotas", "set", "--all", "--storage", "1gb", "--concurrent-runs", "3");
    expect(JSON.parse((await told("quotas", "--json")).stdout)).toMatchObject({
      all: { storage: 1e9, concurrentRuns: 3 },
      users: [{ user: "ada", quotas: { runs: { minute: 10, day: 500 } }, windows: { day: { runs: 0 } } }],
    });
    expect((await told("quotas")).stdout).toMatch(/^USER\s+RUNS TODAY[\s\S]*ada\s+0/);
    expect((await told("quotas", "clear", "ada")).stderr).toBe("Quotas of ada: none stored\n");
    expect(JSON.parse((await told("quotas", "--json")).stdout).users).toEqual([]);
  });

  it.each([
    [["set", "ada"], "Name a quota to set"],
    [["set", "--runs", "5/day"], "Name one user, or use --all"],
    [["set", "ada", "--runs", "5"], 'needs a window, such as 100/day, not "5"'],
    [["set", "ada", "--storage", "much"], 'must be a number such as 500, 2m or 1gb, not "much"'],
  ])("explain a mistake: %j", async (words, message) => {
    const { stderr, code } = await told("quotas", ...words);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });

  it("have examples in their help", async () => {
    expect((await told("quotas", "--help")).stdout).toContain("capstan quotas set alice");
  });
});
