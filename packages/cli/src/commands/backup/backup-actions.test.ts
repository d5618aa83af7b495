import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";

let project: ScratchProject;
const runCommand = (...words: string[]) => runCli(words, project);

beforeAll(async () => {
  project = createScratchProject();
  await runCommand("-p", "Hello whale", "--session-id", "ses_alpha");
});
afterAll(() => project.remove());

it("a backup has the sessions and keys, and restoring it brings them back", async () => {
  await runCommand("keys", "create", "ada");
  const made = await runCommand("backup", "copy.db");
  expect(made).toMatchObject({ code: 0, stdout: "" });
  expect(made.stderr).toMatch(/^Copied .*capstan\.db to .*copy\.db \(\d\.\d MB\)\.\n$/);
  await runCommand("sessions", "rm", "ses_alpha", "--yes");
  expect((await runCommand("sessions")).stdout).not.toContain("ses_alpha");

  expect(await runCommand("restore", "copy.db")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Replace it with --replace, or choose another with --database."),
  });
  expect((await runCommand("restore", "copy.db", "--database", "fresh.db")).code).toBe(0);
  expect((await runCommand("sessions", "--database", "fresh.db")).stdout).toContain("ses_alpha");

  const restored = await runCommand("restore", "copy.db", "--replace");
  expect(restored.stderr).toMatch(/Restored .*\nThe replaced database is .*capstan\.db\.replaced-\w+\.\n$/);
  expect((await runCommand("sessions")).stdout).toContain("ses_alpha");
  expect((await runCommand("keys", "list")).stdout).toContain("ada");
});

it("a backup that is not possible says why and leaves no file", async () => {
  expect(await runCommand("backup", "copy2.db", "--database", "missing.db")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('missing.db" does not exist'),
  });
  expect(await runCommand("backup", "nowhere/copy.db")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("cannot be written (ENOENT)"),
  });
  const url = "postgres://user:canary@127.0.0.1/db";
  for (const [word, program] of [
    ["backup", "pg_dump"],
    ["restore", "pg_restore"],
  ] as const) {
    const { code, stderr } = await runCommand(word, "copy3.db", "--database", url);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Use \`${program} `)]);
    expect(stderr).not.toContain("canary");
  }
  expect(readdirSync(project.folder).filter((name) => /copy[23]|partial/.test(name))).toEqual([]);
  expect(existsSync(join(project.folder, "missing.db"))).toBe(false);
});
