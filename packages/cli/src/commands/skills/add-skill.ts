import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readSkillFolder, type Skill } from "@capstan/tools";
import { AgentError } from "capstan";
import { userFolder } from "capstan/data-folder";
import { findUpwards } from "../../config/find-upwards.ts";
import { configNames, findSkillFolders, getUserSkillFolder } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { formatJson } from "../../output/format-json.ts";
import { escapeTerminalLine } from "../../terminal/escape-terminal.ts";
import { checkTrust, isTrusted, trustFile } from "../../trust/trust.ts";
import { formatProblem, type SkillFlags } from "./skill-actions.ts";

type AddFlags = SkillFlags & { readonly project?: boolean; readonly force?: boolean };

/** `skills add`: checks a skill and copies its folder. */
export async function addSkill(folder: string, flags: AddFlags, io: Io): Promise<void> {
  const source = resolve(io.cwd, folder);
  const skill = readValidSkill(folder, source, io);
  const target = join(flags.project ? findProjectFolder(io) : getUserSkillFolder(io.env), skill.name);
  if (existsSync(target) && !flags.force)
    throw new AgentError("invalid_input", `${target} already exists. Replace it with --force.`);
  if (flags.project) await changeTrustedSkills(dirname(target), io, () => copyFolder(skill.folder, target));
  else copyFolder(skill.folder, target);
  if (flags.json) return void io.stdout.write(formatJson({ name: skill.name, folder: target }));
  io.stderr.write(`Added ${skill.name} to ${escapeTerminalLine(dirname(target))}.\n`);
}

function readValidSkill(folder: string, source: string, io: Io): Skill {
  const read = existsSync(source) ? readSkillFolder(source) : undefined;
  if (!read)
    throw new AgentError(
      "invalid_input",
      `${JSON.stringify(folder)} has no SKILL.md. Name the folder of one skill; \`capstan skills --help\` shows what it has.`,
    );
  for (const problem of read.problems) io.stderr.write(`${formatProblem(problem, io)}\n`);
  if (!read.skill)
    throw new AgentError("invalid_input", `${JSON.stringify(folder)} was not added: fix the errors first.`);
  return read.skill;
}

/** Copies to a new folder first, so that an interrupted copy is never used. Links are refused. */
function copyFolder(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const copy = join(dirname(target), `.${basename(target)}.${process.pid}`);
  try {
    assertNoLinks(source);
    cpSync(source, copy, { recursive: true, verbatimSymlinks: true });
    rmSync(target, { recursive: true, force: true });
    renameSync(copy, target);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function assertNoLinks(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const stats = lstatSync(join(folder, name));
    if (stats.isFile() || stats.isDirectory()) continue;
    throw new AgentError(
      "invalid_input",
      `${escapeTerminalLine(name)} is a link or not a regular file. Replace it with a file, then add the skill.`,
    );
  }
}

/** Returns the project's `.capstan/skills`: an existing folder, or a new one beside the config. */
function findProjectFolder(io: Io): string {
  const existing = findSkillFolders(io).find((folder) => basename(dirname(folder)) === ".capstan");
  const config = findUpwards(configNames, { from: io.cwd, home: userFolder(io.env) });
  const folder = existing ?? join(config === undefined ? io.cwd : dirname(config), ".capstan", "skills");
  if (folder !== getUserSkillFolder(io.env)) return folder;
  throw new AgentError("invalid_input", "The home folder is not a project: leave out --project.");
}

/** Changes a project's skills and keeps them trusted if they were: the user made this change. */
async function changeTrustedSkills(folder: string, { env }: Io, change: () => void): Promise<void> {
  const wasTrusted = existsSync(folder)
    ? checkTrust(folder, env).state === "trusted"
    : isTrusted(dirname(dirname(folder)), env);
  change();
  if (wasTrusted) await trustFile(checkTrust(folder, env), env);
}
