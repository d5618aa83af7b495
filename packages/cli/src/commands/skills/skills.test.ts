import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
  mkdirSync(join(project.folder, "app"));
});
afterEach(() => project.remove());

const run = (...words: string[]) => runCli(words, project, { cwd: join(project.folder, "app") });
function writeSkill(folder: string, name: string, description: string, body = "Do it."): void {
  project.write(
    `${folder}/${name}/SKILL.md`,
    `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`,
  );
}
const config = `
import { defineAgent } from "capstan";
import { offline } from "capstan/models/offline";
import { skills } from "@capstan/tools";
const tools = [skills({ folders: [import.meta.dirname + "/coded"] })];
export default { agents: [defineAgent({ name: "clerk", model: offline(), tools })], skills: ["./configured"] };
`;

describe("capstan skills list", () => {
  it("shows the skills of code, configuration, user and project, and whether they are trusted", async () => {
    project.write("app/capstan.config.mjs", config);
    writeSkill("app/coded", "coded-skill", "In the code.");
    writeSkill("app/configured", "configured-skill", "In the configuration.");
    writeSkill(".capstan/skills", "user-skill", "Of the user.");
    writeSkill("app/.capstan/skills", "project-skill", "Of the project.");
    writeSkill("app/.claude/skills", "other-skill", "For another program.");
    const before = await run("skills", "list");
    expect(before.stdout).not.toContain("coded-skill");
    expect(before.stdout).toMatch(/^project-skill +project +no +Of the project\.$/m);
    expect(before.stderr).toContain("Review them, then run capstan with --trust.");
    expect(await run("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    const { stdout, stderr } = await run("skills");
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ["NAME", "SOURCE", "TRUSTED", "DESCRIPTION"],
      ["coded-skill", "agent clerk", "yes", "In the code."],
      ["configured-skill", "config", "yes", "In the configuration."],
      ["user-skill", "user", "yes", "Of the user."],
      ["project-skill", "project", "yes", "Of the project."],
      ["other-skill", "project", "yes", "For another program."],
    ]);
    expect(stderr).toBe("");
    const { skills } = JSON.parse((await run("skills", "list", "--json")).stdout);
    expect(skills[3]).toEqual({
      name: "project-skill",
      description: "Of the project.",
      folder: join(project.folder, "app/.capstan/skills/project-skill"),
      source: "project",
      isTrusted: true,
    });
  });

  it("says how to start without any skill, and points to problems", async () => {
    expect((await run("skills", "list")).stderr).toContain("Add one with `capstan skills add <folder>`");
    project.write(".capstan/skills/broken/SKILL.md", "nothing");
    expect((await run("skills", "list")).stderr).toContain("1 problem: run `capstan skills check`.");
  });
});

describe("capstan skills check", () => {
  it("reports each problem with file and line, and fails for errors only", async () => {
    writeSkill("app/drafts", "good", "Fine.\nmodel: opus");
    project.write("app/drafts/bad/SKILL.md", "---\nname: Bad\u001b[2J\n---\n");
    const all = await run("skills", "check", "drafts");
    expect(all).toMatchObject({ code: 1, stderr: "1 skill can be used: 2 errors, 2 warnings.\n" });
    expect(all.stdout.trim().split("\n")).toEqual([
      "drafts/bad/SKILL.md:2: error: `name` must be 1 to 64 lowercase letters, digits and single hyphens.",
      "drafts/bad/SKILL.md:1: error: `description` must be a text of 1 to 1,024 characters.",
      "drafts/bad/SKILL.md:4: warning: The skill has no text after the front matter.",
      "drafts/good/SKILL.md:4: warning: A field is not part of the format: it is ignored.",
    ]);
    const one = await run("skills", "check", "drafts/good", "--json");
    expect(one.code).toBe(0);
    expect(JSON.parse(one.stdout)).toMatchObject({
      skills: ["good"],
      problems: [{ severity: "warning", line: 4 }],
    });
    expect(await run("skills", "check")).toMatchObject({ code: 0, stdout: "" });
  });

  it.each([
    ["missing", 'The folder "missing" does not exist.'],
    [".", '"." has no SKILL.md, and no folder with one.'],
  ])("names a folder that is not one of skills: %s", async (folder, message) => {
    const { code, stderr } = await run("skills", "check", folder);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("capstan skills add", () => {
  it("copies a valid skill with its files to the user's folder, and replaces one only when told to", async () => {
    writeSkill("drafts", "notes", "Writes notes.");
    project.write("drafts/notes/scripts/a.sh", "echo a");
    expect(await run("skills", "add", "../drafts/notes")).toMatchObject({ code: 0 });
    const target = join(project.folder, ".capstan/skills/notes");
    expect(readFileSync(join(target, "scripts/a.sh"), "utf8")).toBe("echo a");
    writeSkill("drafts", "notes", "Writes better notes.");
    const again = await run("skills", "add", "../drafts/notes");
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("already exists. Replace it with --force.");
    expect(await run("skills", "add", "../drafts/notes", "--force", "--json")).toMatchObject({ code: 0 });
    expect(readFileSync(join(target, "SKILL.md"), "utf8")).toContain("better");
  });

  it("refuses a skill with errors, with a link, or without SKILL.md, and copies nothing (A137)", async () => {
    writeSkill("drafts", "linked", "Has a link.");
    symlinkSync("/etc/hostname", join(project.folder, "drafts/linked/host"));
    project.write("drafts/broken/SKILL.md", "---\nname: broken\n---\nx");
    mkdirSync(join(project.folder, "drafts/empty"));
    for (const [name, message] of [
      ["linked", "host is a link or not a regular file."],
      ["broken", '"../drafts/broken" was not added: fix the errors first.'],
      ["empty", '"../drafts/empty" has no SKILL.md.'],
    ]) {
      const { code, stderr } = await run("skills", "add", `../drafts/${name}`);
      expect(code).toBe(2);
      expect(stderr).toContain(message);
    }
    for (const name of ["linked", "broken", "empty"])
      expect(existsSync(join(project.folder, ".capstan/skills", name))).toBe(false);
  });

  it("keeps the skills of a trusted project trusted, and does not trust those of another (A135)", async () => {
    writeSkill("drafts", "notes", "Writes notes.");
    writeSkill("drafts", "more", "Writes more.");
    expect(await run("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    expect(await run("skills", "add", "../drafts/notes", "--project")).toMatchObject({ code: 0 });
    expect((await run("skills", "list")).stdout).toMatch(/^notes +project +yes/m);
    writeSkill("app/.capstan/skills", "intruder", "Came with a pull.");
    expect(await run("skills", "add", "../drafts/more", "--project")).toMatchObject({ code: 0 });
    const { stdout } = await run("skills", "list");
    expect(stdout).toMatch(/^intruder +project +no/m);
    expect(stdout).toMatch(/^more +project +no/m);
    expect(stdout).toMatch(/^notes +project +yes/m);
  });
});

it("an agent has its own skills, then those of the configuration and the user", async () => {
  project.write("app/capstan.config.mjs", config);
  writeSkill("app/coded", "first", "In the code.", "Text of the code.");
  writeSkill("app/configured", "first", "In the configuration.", "Text of the configuration.");
  writeSkill(".capstan/skills", "second", "Of the user.", "Text of the user.");
  for (const [name, text] of [
    ["first", "Text of the code."],
    ["second", "Text of the user."],
  ]) {
    const { stdout } = await run("-p", `Use the ${name} skill`, "--json", "--trust");
    expect(JSON.parse(stdout)).toMatchObject({
      text: expect.stringContaining(text ?? ""),
      toolCalls: [{ name: "load_skill", status: "ok" }],
    });
  }
});

describe("the skills of a project", () => {
  const answer = async (...words: string[]) =>
    JSON.parse((await run("-p", "Use the deploy skill", "--json", ...words)).stdout);

  it("are external content until they are trusted as they are, each by itself (A135, A137)", async () => {
    writeSkill("app/.claude/skills", "deploy", "Deploys the shop.", "Ship it.");
    writeSkill("app/.claude/skills", "other", "Something else.");
    const before = await run("-p", "Hi", "--json");
    expect(before.stderr).toContain("are not trusted: the agent does not see them in its instructions");
    await answer("--trust");
    expect((await run("-p", "Hi")).stderr).not.toContain("skills");
    project.write("app/.claude/skills/deploy/scripts/new.sh", "rm -rf /");
    const changed = await run("-p", "Hi");
    expect(changed).toMatchObject({ code: 1, stdout: "" });
    expect(changed.stderr).toMatch(
      /\.claude\/skills changed since you trusted it \(skills\/deploy\/scripts\/new\.sh\)/,
    );
    const { stdout } = await run("skills", "list");
    expect(stdout).toMatch(/^deploy +project +no/m);
    expect(stdout).toMatch(/^other +project +yes/m);
    expect(await run("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    expect((await run("skills", "list")).stdout).toMatch(/^deploy +project +yes/m);
  });
});

it("capstan doctor says what untrusted skills are, and that an untrusted configuration is not used (A135)", async () => {
  writeSkill("app/.capstan/skills", "project-skill", "Of the project.");
  const skills =
    /the skills in \S+app\/\.capstan\/skills are not trusted as they are now: they are not in the instructions, and their text is external content/;
  const alone = (await run("doctor")).stdout;
  expect(alone).toMatch(skills);
  expect(alone).not.toContain("not used");
  project.write("app/capstan.config.mjs", config);
  const both = (await run("doctor")).stdout;
  expect(both).toMatch(skills);
  expect(both).toContain(
    "capstan.config.mjs is not used, because it is not trusted as it is now; the skills in",
  );
});

it("capstan skills --help teaches the format and the folders", async () => {
  const { stdout } = await run("skills", "--help");
  for (const text of ["SKILL.md", "description:", "~/.capstan/skills", ".claude/skills", "--trust"])
    expect(stdout).toContain(text);
});
