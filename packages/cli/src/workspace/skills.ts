import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SkillFolder, SkillsTool } from "@capstan/tools";
import type { Tool } from "capstan";
import { getUserSkillFolder, type Project } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { isTrustedSkill } from "../trust/trust.ts";

/** A folder of skills, and where it is from. */
export type NamedSkillFolder = SkillFolder & { readonly source: "config" | "user" | "project" };

/** The skills of a workspace. */
export interface WorkspaceSkills {
  /** Adds the skills to the tools of an agent, after the agent's own skills. */
  addTo(tools: readonly Tool[]): readonly Tool[];
  /** The `SKILL.md` of every skill. */
  listFiles(): readonly string[];
}

/** Lists the folders of skills, in the order in which a name is looked up. */
export function listSkillFolders(
  { config, configFile, skillFolders }: Pick<Project, "config" | "configFile" | "skillFolders">,
  { cwd, env }: Pick<Io, "cwd" | "env">,
): readonly NamedSkillFolder[] {
  const base = configFile === undefined ? cwd : dirname(configFile);
  const userFolder = getUserSkillFolder(env);
  return [
    ...(config.skills ?? []).map((path) => ({ path: resolve(base, path), source: "config" }) as const),
    ...(existsSync(userFolder) ? [{ path: userFolder, source: "user" } as const] : []),
    ...skillFolders.map(
      (path): NamedSkillFolder => ({
        path,
        source: "project",
        root: dirname(dirname(path)),
        provenance: ({ name }) => (isTrustedSkill(path, name, env) ? "operator" : "external"),
      }),
    ),
  ];
}

/** Opens the skills of the config, the user and the project. Returns undefined if there are none. */
export async function openSkills(project: Project, io: Io): Promise<WorkspaceSkills | undefined> {
  const folders = listSkillFolders(project, io);
  if (folders.length === 0) return undefined;
  const { isSkillsTool, skills } = await import("@capstan/tools");
  const common = skills({ folders });
  if (common.skills.length === 0) return undefined;
  // A tool that is replaced in every turn would look like a changed one.
  const extended = new Map<Tool, SkillsTool>();
  const extend = (own: SkillsTool): SkillsTool => {
    const known = extended.get(own) ?? skills({ folders: [...own.skillFolders, ...folders] });
    extended.set(own, known);
    return known;
  };
  return {
    addTo(tools) {
      // A tool of the application that has the name is left alone.
      if (!tools.some(({ name }) => name === common.name)) return [...tools, common];
      return tools.map((tool) => (isSkillsTool(tool) ? extend(tool) : tool));
    },
    listFiles: () => common.skills.map(({ folder }) => join(folder, "SKILL.md")),
  };
}
