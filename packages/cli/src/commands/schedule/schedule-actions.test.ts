import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";

let project: ScratchProject;
const told = (...words: string[]) => runCli(words, project);

beforeAll(() => {
  project = createScratchProject();
});
afterAll(() => project.remove());

describe("capstan schedule", () => {
  it("adds, lists, pauses, resumes, runs and removes schedules", async () => {
    expect((await told("schedule")).stderr).toContain("Nothing is scheduled.");
    const added = await told(
      "schedule",
      "add",
      "every weekday at 9",
      "What is 2 + 3?",
      "--time-zone",
      "Europe/Oslo",
    );
    const id = added.stdout.trim();
    expect(id).toMatch(/^sch_/);
    expect(added.stderr).toMatch(/^First: .*at 09:00 \(Europe\/Oslo\)/m);
    expect((await told("schedule", "list")).stdout).toMatch(/^ID\s+NEXT[\s\S]*What is 2 \+ 3\?/);
    const short = id.slice(4, 12);
    expect((await told("schedule", "pause", short)).stderr).toContain(`Paused: ${id}`);
    expect(JSON.parse((await told("schedule", "--json")).stdout)).toMatchObject([{ id, state: "paused" }]);
    expect((await told("schedule", "resume", short)).stderr).toContain(`Resumed: ${id}`);
    const ran = await told("schedule", "run", short);
    expect(ran.stdout).toContain("5");
    expect(ran.code).toBe(0);
    expect(JSON.parse((await told("schedule", "--json")).stdout)).toMatchObject([
      { runs: [{ isManual: true }] },
    ]);
    expect((await told("schedule", "remove", id)).stderr).toContain(`Removed: ${id}`);
    expect(JSON.parse((await told("schedule", "--json")).stdout)).toEqual([]);
  });

  it.each([
    [["add", "whenever", "Hi"], "is not understood"],
    [["add", "2020-01-01", "Hi"], "is over"],
    [["add", "tomorrow", "Hi", "--in", "none"], "capstan sessions"],
    [["remove", "none"], "List them with: capstan schedule"],
    [["dance"], "dance"],
  ])("explains a mistake: %j", async (words, message) => {
    const { stderr, code } = await told("schedule", ...words);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });
});
