import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, sep } from "node:path";
import type { SkillInfo } from "capstan";
import { getSystemCode } from "../files/file-errors.ts";
import { noFollow } from "../files/open-flags.ts";
import { isWithin } from "../files/parse-path.ts";
import {
  isSkillName,
  type ParsedSkill,
  parseSkill,
  type SkillMetadata,
  type SkillProblem,
} from "./parse-skill.ts";

/** Who wrote a skill: the operator, whose words are instructions, or anyone else. */
export type SkillProvenance = SkillInfo["provenance"];

/** A folder that has one folder per skill. */
export type SkillFolder = {
  readonly path: string;
  /** Default: `operator`. A function is called whenever a skill is listed or loaded, so that trust can end. */
  readonly provenance?: SkillProvenance | ((skill: SkillLocation) => SkillProvenance);
  /** Links are followed inside this folder only. Default: they may lead anywhere. */
  readonly root?: string;
};

export type SkillLocation = {
  readonly name: string;
  /** The real path of the skill's folder. */
  readonly folder: string;
};

/** A skill that can be loaded. */
export type Skill = SkillMetadata & SkillLocation & { readonly provenance: SkillProvenance };

/** A problem, and the file that has it. */
export type SkillFileProblem = SkillProblem & { readonly file: string };

/** The skills of some folders. */
export type FoundSkills = {
  /** In the order of the folders, then by name. Of two skills with the same name, the first is used. */
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillFileProblem[];
};

const maxSkills = 200;
const maxFileBytes = 512_000;

/** Lists the skills of the folders, and what is wrong with the others. A folder that does not exist has none. */
export function findSkills(folders: readonly SkillFolder[]): FoundSkills {
  const skills = new Map<string, Skill>();
  const problems: SkillFileProblem[] = [];
  for (const folder of folders) {
    for (const name of listNames(folder.path)) {
      const read = readSkill(folder, name);
      if (!read) continue;
      problems.push(...read.problems);
      const known = read.skill && skills.get(name);
      if (known)
        problems.push(createProblem(read.file, `Not used: ${known.folder} has the same name.`, "warning"));
      else if (read.skill && skills.size >= maxSkills)
        problems.push(createProblem(read.file, `Not used: there are more than ${maxSkills} skills.`));
      else if (read.skill) skills.set(name, read.skill);
    }
  }
  return { skills: [...skills.values()], problems };
}

/** Finds a skill as it is now, with the text of its `SKILL.md`. */
export function loadSkill(
  folders: readonly SkillFolder[],
  name: string,
): { readonly skill: Skill; readonly body: string } | undefined {
  if (!isSkillName(name)) return undefined;
  for (const folder of folders) {
    const read = readSkill(folder, name);
    if (read?.skill) return { skill: read.skill, body: read.body };
  }
  return undefined;
}

type ReadSkill = {
  readonly file: string;
  readonly skill?: Skill;
  readonly body: string;
  readonly problems: readonly SkillFileProblem[];
};

/** Reads one skill of a folder. Returns undefined if the entry is not a folder, or has no `SKILL.md`. */
function readSkill(
  { path, provenance = "operator", root }: SkillFolder,
  name: string,
): ReadSkill | undefined {
  const file = join(path, name, "SKILL.md");
  const fail = (message: string): ReadSkill => ({ file, body: "", problems: [createProblem(file, message)] });
  const folder = tryRealPath(join(path, name));
  if (folder === undefined) return undefined;
  if (root !== undefined && !isWithin(folder, realpathSync(root), sep))
    return fail("The skill is a link out of the project.");
  const text = readSkillFile(join(folder, "SKILL.md"));
  if (text === undefined) return undefined;
  if (typeof text !== "string") return fail(text.problem);
  const { metadata, body, problems }: ParsedSkill = parseSkill(text, name);
  const decide = typeof provenance === "function" ? provenance : () => provenance;
  return {
    file,
    body,
    ...(metadata && { skill: { ...metadata, folder, provenance: decide({ name, folder }) } }),
    problems: problems.map((problem) => ({ ...problem, file })),
  };
}

/** Reads the one skill in a folder of its own. */
export function readSkillFolder(folder: string): ReadSkill | undefined {
  const path = realpathSync(folder);
  return readSkill({ path: join(path, "..") }, basename(path));
}

const createProblem = (
  file: string,
  message: string,
  severity: SkillProblem["severity"] = "error",
): SkillFileProblem => ({ file, line: 1, severity, message });

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith("."))
      .sort();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(getSystemCode(error) ?? "")) return [];
    throw error;
  }
}

function tryRealPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // removed meanwhile, or a link to nothing
  }
}

// O_NONBLOCK: opening a named pipe must not wait for a writer.
const openFlags = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0);

function readSkillFile(file: string): string | { readonly problem: string } | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, openFlags);
  } catch (error) {
    const code = getSystemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { problem: code === "ELOOP" ? "SKILL.md is a link." : `SKILL.md cannot be read (${code}).` };
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { problem: "SKILL.md is not a regular file." };
    if (stats.size > maxFileBytes) return { problem: `SKILL.md has more than ${maxFileBytes} bytes.` };
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}
