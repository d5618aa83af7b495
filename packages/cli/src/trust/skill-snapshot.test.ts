import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeSkillSnapshot, takeSkillsSnapshot } from "./skill-snapshot.ts";
import { checkTrust, isTrustedSkill, trustFile } from "./trust.ts";

let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "capstan-skill-snapshot-"));
  folder = join(base, "app/.claude/skills");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const getEnv = () => ({ CAPSTAN_HOME: join(base, "data"), HOME: join(base, "home") });
function write(path: string, text: string | Buffer): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}
const isTrusted = (name: string) => isTrustedSkill(folder, name, getEnv());

describe("what is trusted with a project's skills", () => {
  it("is every file of every skill, also of one that is a link inside the project, and nothing else", () => {
    write("app/.claude/skills/deploy/SKILL.md", "text");
    write("app/.claude/skills/deploy/scripts/.hidden/run.sh", "run");
    write("app/.claude/skills/deploy/logo.png", Buffer.from([0, 1]));
    write("app/.claude/skills/README.md", "no skill");
    write("app/.claude/skills/no-skill/README.md", "no skill");
    write("app/shared/linked/SKILL.md", "linked");
    write("outside/far/SKILL.md", "CANARY");
    symlinkSync("../../shared/linked", join(folder, "linked"));
    symlinkSync(join(base, "outside/far"), join(folder, "far"));
    symlinkSync("nowhere", join(folder, "dangling"));
    symlinkSync("/etc", join(folder, "deploy/link"));
    const snapshot = takeSkillsSnapshot(folder);
    expect(Object.keys(snapshot).sort()).toEqual([
      "skills/deploy/SKILL.md",
      "skills/deploy/link",
      "skills/deploy/logo.png",
      "skills/deploy/scripts/.hidden/run.sh",
      "skills/linked/SKILL.md",
    ]);
    expect(snapshot["skills/deploy/logo.png"]).not.toHaveProperty("text");
    expect(JSON.stringify(snapshot)).not.toContain("CANARY");
  });

  it.each([
    [
      "more than 500 entries",
      () => {
        for (let index = 0; index <= 500; index++) mkdirSync(join(folder, "big", `${index}`));
      },
    ],
    ["more than 20 MB", () => write("app/.claude/skills/big/data", Buffer.alloc(20_000_001))],
  ])("is no skill with %s (A137)", async (_what, fill) => {
    write("app/.claude/skills/big/SKILL.md", "text");
    write("app/.claude/skills/small/SKILL.md", "text");
    fill();
    expect(takeSkillSnapshot(folder, "big")).toBeUndefined();
    await trustFile(checkTrust(folder, getEnv()), getEnv());
    expect([isTrusted("big"), isTrusted("small")]).toEqual([false, true]);
  });

  it("ends for one skill when one of its files is changed, added or removed, and for no other (A135)", async () => {
    write("app/.claude/skills/deploy/SKILL.md", "text");
    write("app/.claude/skills/deploy/run.sh", "run");
    write("app/.claude/skills/other/SKILL.md", "text");
    expect(isTrusted("deploy")).toBe(false);
    await trustFile(checkTrust(folder, getEnv()), getEnv());
    expect([isTrusted("deploy"), isTrusted("other"), isTrusted("missing")]).toEqual([true, true, false]);
    for (const change of [
      () => write("app/.claude/skills/deploy/run.sh", "rm"),
      () => write("app/.claude/skills/deploy/new.sh", "new"),
      () => rmSync(join(folder, "deploy/run.sh")),
    ]) {
      change();
      expect([isTrusted("deploy"), isTrusted("other")]).toEqual([false, true]);
      expect(checkTrust(folder, getEnv()).state).toBe("changed");
      rmSync(join(folder, "deploy/new.sh"), { force: true });
      write("app/.claude/skills/deploy/run.sh", "run");
      expect(isTrusted("deploy")).toBe(true);
    }
  });

  it("is nothing outside of the project, also if the whole folder is a link (A137)", async () => {
    write("outside/far/SKILL.md", "CANARY");
    rmSync(folder, { recursive: true });
    symlinkSync(join(base, "outside"), folder);
    expect(takeSkillsSnapshot(folder)).toEqual({});
    await trustFile(checkTrust(folder, getEnv()), getEnv());
    expect(isTrusted("far")).toBe(false);
  });
});
