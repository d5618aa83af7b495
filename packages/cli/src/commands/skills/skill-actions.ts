import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import {
  type FoundSkills,
  findSkills,
  isSkillsTool,
  readSkillFolder,
  type Skill,
  type SkillFileProblem,
  type SkillFolder,
} from "@capstan/tools";
import { type Agent, AgentError } from "capstan";
import { formatCount } from "capstan/sessions";
import { loadProject } from "../../config/load-project.ts";
import { type ExitCode, exitCodes } from "../../exit-code.ts";
import type { Io } from "../../io.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { escapeTerminalLine } from "../../terminal/escape-terminal.ts";
import { listSkillFolders } from "../../workspace/skills.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

export type SkillFlags = WorkspaceFlags & { readonly json?: boolean };

/** A skill as it is listed. */
type ListedSkill = Pick<Skill, "name" | "description" | "folder"> & {
  /** `config`, `user`, `project`, or the agent that has it in its code. */
  readonly source: string;
  readonly isTrusted: boolean;
};

type SkillSource = SkillFolder & { readonly source: string };

/** Lists the folders of the agents' own skills, then the folders of the workspace. */
async function listSources(flags: SkillFlags, io: Io): Promise<readonly SkillSource[]> {
  const project = await loadProject(flags, io, "optional");
  const own = (project.config.agents ?? []).flatMap(listAgentFolders);
  const sources = [...own, ...listSkillFolders(project, io)];
  // Agents may share a folder.
  return [...new Map(sources.toReversed().map((folder) => [folder.path, folder])).values()].toReversed();
}

function listAgentFolders({ name, tools, toolSource }: Agent): readonly SkillSource[] {
  const own = toolSource?.() ?? [...tools.values()];
  return own
    .filter(isSkillsTool)
    .flatMap(({ skillFolders }) => skillFolders.map((folder) => ({ ...folder, source: `agent ${name}` })));
}

const columns: readonly Column<ListedSkill>[] = [
  { name: "NAME", value: ({ name }) => name },
  { name: "SOURCE", value: ({ source }) => source },
  { name: "TRUSTED", value: ({ isTrusted }) => (isTrusted ? "yes" : "no") },
  { name: "DESCRIPTION", value: ({ description }) => description, shrinks: true },
];

/** `skills list`. */
export async function listSkills(flags: SkillFlags, io: Io): Promise<void> {
  const sources = await listSources(flags, io);
  const skills = sources.flatMap((source) =>
    findSkills([source]).skills.map((skill) => toListed(skill, source)),
  );
  const { problems } = findSkills(sources);
  if (flags.json) return void io.stdout.write(formatJson({ skills, problems }));
  if (skills.length > 0) io.stdout.write(formatTable(skills, columns, io));
  else
    io.stderr.write("No skills. Add one with `capstan skills add <folder>`; --help shows what a skill is.\n");
  if (skills.some(({ isTrusted }) => !isTrusted))
    io.stderr.write(
      "Skills that are not trusted are external content: the agent loads them only by name, and effects after that need your approval. Review them, then run capstan with --trust.\n",
    );
  if (problems.length > 0)
    io.stderr.write(`${formatCount(problems.length, "problem")}: run \`capstan skills check\`.\n`);
}

function toListed({ name, description, folder, provenance }: Skill, { source }: SkillSource): ListedSkill {
  return { name, description, folder, source, isTrusted: provenance === "operator" };
}

/** `skills check`. Returns the exit code. */
export async function checkSkills(folder: string | undefined, flags: SkillFlags, io: Io): Promise<ExitCode> {
  const found =
    folder === undefined
      ? findSkills(await listSources(flags, io))
      : checkFolder(folder, resolve(io.cwd, folder));
  const { skills, problems } = found;
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const names = skills.map(({ name }) => name);
  if (flags.json) io.stdout.write(formatJson({ skills: names, problems }));
  else {
    for (const problem of problems) io.stdout.write(`${formatProblem(problem, io)}\n`);
    io.stderr.write(
      `${formatCount(names.length, "skill")} can be used: ${formatCount(errors, "error")}, ${formatCount(problems.length - errors, "warning")}.\n`,
    );
  }
  return errors > 0 ? exitCodes.failure : exitCodes.ok;
}

/** Checks one skill, or all skills in a folder. */
function checkFolder(name: string, path: string): FoundSkills {
  if (!existsSync(path))
    throw new AgentError("invalid_input", `The folder ${JSON.stringify(name)} does not exist.`);
  if (!existsSync(join(path, "SKILL.md"))) {
    const found = findSkills([{ path }]);
    if (found.skills.length + found.problems.length > 0) return found;
    throw new AgentError(
      "invalid_input",
      `${JSON.stringify(name)} has no SKILL.md, and no folder with one. Run \`capstan skills --help\` to see what a skill is.`,
    );
  }
  const read = readSkillFolder(path);
  return { skills: read?.skill ? [read.skill] : [], problems: read?.problems ?? [] };
}

/** Formats a problem as compilers do, so that editors find the line. */
export function formatProblem(
  { file, line, severity, message }: SkillFileProblem,
  { cwd }: Pick<Io, "cwd">,
): string {
  const path = relative(cwd, file);
  const shown = path.startsWith("..") ? file : path;
  return `${escapeTerminalLine(shown)}:${line}: ${severity}: ${escapeTerminalLine(message)}`;
}
