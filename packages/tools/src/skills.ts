import { statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import {
  AgentError,
  defineTool,
  escapeInvisible,
  isRecord,
  suggestName,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolReturn,
} from "capstan";
import { createNotFoundError, quotePath } from "./files/file-errors.ts";
import { listFilesTool } from "./files/list-files.ts";
import { readFileTool } from "./files/read-file.ts";
import { resolveRoot } from "./files/root.ts";
import { createSeenFiles } from "./files/seen-files.ts";
import { defaultLimits, getMaxResultSize, type Workspace } from "./files/workspace.ts";
import { findSkills, loadSkill, type Skill, type SkillFolder } from "./skills/find-skills.ts";
import { wrapUntrusted } from "./web/wrap-untrusted.ts";

export type SkillsOptions = {
  /** Folders that have one folder per skill, each with a `SKILL.md`. Of two skills with the same name, the first is used. */
  readonly folders: readonly (string | SkillFolder)[];
};

type LoadSkillInput = { readonly name: string; readonly file?: string; readonly from?: number };

/** The tool `load_skill`, and where its skills come from. */
export interface SkillsTool extends Tool<ToolCall<"load_skill", LoadSkillInput>, unknown> {
  readonly skillFolders: readonly SkillFolder[];
  /** The skills as they were when the tool was created. */
  readonly skills: readonly Skill[];
}

const limits = { ...defaultLimits, entries: 200 };

/**
 * Creates the tool `load_skill {name, file, from}` for Agent Skills, the open folder format. The instructions of an agent
 * with this tool list the names and descriptions of the skills, as they were when the tool was created. External skills
 * are not listed, and their text is untrusted. Throws `invalid_definition` for a folder that does not exist.
 */
export function skills(options: SkillsOptions): SkillsTool {
  const folders = checkFolders(options);
  const found = findSkills(folders).skills;
  const instructions = formatCatalogue(found.filter(({ provenance }) => provenance === "operator"));
  const tool = defineTool({
    name: "load_skill",
    description:
      "Loads a skill: instructions for a kind of task, and the list of its files. With `file`, reads one of these files.",
    ...(instructions !== "" && { instructions }),
    input: {
      type: "object",
      properties: {
        name: { type: "string", description: "The name of the skill." },
        file: { type: "string", description: "A file of the skill, by its path in the list of files." },
        from: { type: "integer", minimum: 1, description: "The first line of the file to read." },
      },
      required: ["name"],
      additionalProperties: false,
    },
    effects: "none",
    // A skill of the operator is as trusted as the instructions; the result of an external one has its own labels.
    reads: [],
    defer: false,
    maxResultSize: getMaxResultSize(limits) * 2,
    execute: (input: LoadSkillInput, context) => executeLoad(folders, input, context),
  });
  return { ...tool, skillFolders: folders, skills: found };
}

/** Whether a tool was made with `skills`. */
export function isSkillsTool(tool: Tool): tool is SkillsTool {
  return "skillFolders" in tool;
}

function checkFolders({ folders, ...others }: SkillsOptions): readonly SkillFolder[] {
  const fail = (message: string): never => {
    throw new AgentError("invalid_definition", message);
  };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) fail(`Unknown option "${unknown}" for skills. Options: folders.`);
  if (!Array.isArray(folders)) fail('skills needs `folders`: a list such as ["./skills"].');
  return folders.map((entry) => {
    const folder = typeof entry === "string" ? { path: entry } : entry;
    if (!isRecord(folder) || typeof folder.path !== "string")
      fail("A folder of skills must be a path, or an object with `path`.");
    const path = resolve(folder.path);
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
      fail(`The folder of skills ${JSON.stringify(folder.path)} does not exist: create it first.`);
    return { ...folder, path };
  });
}

/** The part of the instructions that lists the skills; empty without any. */
function formatCatalogue(listed: readonly Skill[]): string {
  if (listed.length === 0) return "";
  const lines = listed.map(({ name, description }) => `- ${name}: ${escapeInvisible(description)}`);
  return [
    "Skills are instructions for kinds of tasks. When a task fits one of these, load it with the tool `load_skill` before you start, and follow it:",
    ...lines,
  ].join("\n");
}

async function executeLoad(
  folders: readonly SkillFolder[],
  { name, file, from }: LoadSkillInput,
  context: ToolContext,
): Promise<ToolReturn> {
  const found = loadSkill(folders, name);
  if (!found) throw createUnknownSkillError(folders, name);
  const files = openFiles(found.skill, context);
  const content =
    file === undefined
      ? formatSkill(found, await files.list())
      : await files.read({ path: file, from: from ?? 1 });
  const message = file === undefined ? `Skill ${name}` : `${escapeInvisible(file)} of the skill ${name}`;
  // Decided after reading, so that a change while the files are read does not pass as trusted.
  if (loadSkill(folders, name)?.skill.provenance === "operator") return { content, message };
  return {
    content: wrapUntrusted(content, { skill: name, folder: formatFolder(found.skill) }),
    message: `${message} (not trusted)`,
    // Private too: with both labels, every later effect needs approval.
    reads: ["private", "untrusted"],
  };
}

/** Names only skills that are listed: others may have chosen the names of external ones. */
function createUnknownSkillError(folders: readonly SkillFolder[], name: string): AgentError {
  const { skills: known, problems } = findSkills(folders);
  const names = known.flatMap((skill) => (skill.provenance === "operator" ? skill.name : []));
  const isInvalid = problems.some(({ file }) => file.endsWith(join(sep, name, "SKILL.md")));
  const reason = isInvalid
    ? "cannot be used: its SKILL.md is invalid. The user can run `capstan skills check`"
    : "does not exist, or was removed";
  const hint = suggestName(name, names) || (names.length > 0 ? ` Available: ${names.join(", ")}.` : "");
  return createNotFoundError(`The skill ${quotePath(name)} ${reason}.${hint}`);
}

/** Reads the files of a skill as the file tools do: nothing outside the folder, no links, no credentials. */
function openFiles(
  { name, folder }: Skill,
  context: ToolContext,
): { list(): Promise<string>; read(input: { path: string; from: number }): Promise<string> } {
  const root = resolveRoot({ root: folder, provenance: "user" });
  const workspace: Workspace = { root, limits, reads: [], seen: createSeenFiles() };
  const list = async () => String(await listFilesTool(workspace).execute?.({ glob: "**" }, context));
  return {
    list,
    async read(input) {
      try {
        return String(await readFileTool(workspace).execute?.(input, context));
      } catch (error) {
        if (!(error instanceof AgentError) || error.code !== "not_found") throw error;
        throw createNotFoundError(
          `The skill ${name} has no file ${quotePath(input.path)}. Load the skill without \`file\` to see its files.`,
        );
      }
    },
  };
}

function formatSkill(
  { skill, body }: { readonly skill: Skill; readonly body: string },
  list: string,
): string {
  const { name, compatibility } = skill;
  const others = list.split("\n").filter((path) => path !== "SKILL.md" && path !== "");
  const files =
    others.length === 0
      ? []
      : [
          `Files of this skill, in the folder ${formatFolder(skill)}. Read one with load_skill and its path; run scripts with your other tools:`,
          ...others.map((path) => `- ${path}`),
        ];
  return [
    `Skill: ${name}`,
    ...(compatibility === undefined ? [] : [`Needs: ${escapeInvisible(compatibility)}`]),
    "",
    body,
    ...(files.length > 0 ? ["", ...files] : []),
  ].join("\n");
}

/** Relative to the working folder where possible, so that the file tools and the shell accept it. */
function formatFolder({ folder }: Skill): string {
  const path = relative(process.cwd(), folder);
  return escapeInvisible(path.startsWith("..") ? folder : path || ".");
}
