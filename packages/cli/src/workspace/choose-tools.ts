import { join } from "node:path";
import type { McpTools } from "@capstan/mcp";
import { AgentError, type Store, suggestName, type Tool } from "capstan";
import { dataFolder } from "capstan/data-folder";
import type { Config, ToolSet } from "../config/config.ts";
import type { Io } from "../io.ts";
import type { WorkspaceSkills } from "./skills.ts";

/** Sources of tools. */
export type ToolContext = {
  readonly config: Config;
  readonly mcp: McpTools | undefined;
  /** Skills that every agent gets. */
  readonly skills?: WorkspaceSkills | undefined;
  /** Root folder of the file tools. */
  readonly folder: string;
  readonly env: Io["env"];
  /** The folder has config files or skills that the user does not trust: its other files come from outside, too. */
  readonly isUntrusted?: boolean;
  /** Where the tool `schedule` stores what is scheduled. */
  readonly store?: Store;
};

/** Returns the tools of an agent: its own by default, or the tools and tool sets that `--tools` names. */
export async function chooseTools(
  flag: string | undefined,
  getOwnTools: () => readonly Tool[],
  context: ToolContext,
): Promise<() => readonly Tool[]> {
  const { mcp } = context;
  if (flag === undefined) return mcp ? () => removeDuplicates([...getOwnTools(), ...mcp.tools]) : getOwnTools;
  const names = flag.split(",").map((name) => name.trim());
  const requested = names.filter((name) => name !== "" && name !== "none");
  const sets = new Map<string, readonly Tool[]>();
  for (const name of requested) if (isToolSet(name)) sets.set(name, await loadToolSet(name, context));
  const loadSingleTools = async () =>
    removeDuplicates([
      ...getOwnTools(),
      ...(await loadConfiguredTools(context)),
      ...(await loadBuiltInTools(context)),
    ]);
  const singleTools = requested.some((name) => !isToolSet(name) && !name.startsWith("mcp"))
    ? await loadSingleTools()
    : [];
  const getChosenTools = () => {
    const known = [...singleTools, ...(mcp?.tools ?? [])];
    return removeDuplicates(
      requested.flatMap((name) => {
        if (name === "mcp") return mcp?.tools ?? [];
        return sets.get(name) ?? known.filter((tool) => tool.name === name);
      }),
    );
  };
  assertKnownTools(requested, { sets, known: [...singleTools, ...(mcp?.tools ?? [])] });
  return getChosenTools;
}

/** Loads the tools of the default agent. */
export async function loadConfiguredTools(context: ToolContext): Promise<readonly Tool[]> {
  const lists = (context.config.tools ?? ["files", "web"]).map(async (tool) =>
    typeof tool === "string" ? loadToolSet(tool, context) : [tool],
  );
  return removeDuplicates((await Promise.all(lists)).flat());
}

const toolSets: readonly ToolSet[] = ["files", "web", "plan", "shell", "memory", "schedule"];
const isToolSet = (name: string): name is ToolSet => toolSets.some((set) => set === name);

async function loadToolSet(
  name: ToolSet,
  { folder, env, isUntrusted = false, store }: ToolContext,
): Promise<readonly Tool[]> {
  const { fileTools, memoryTools, planTool, shellTool, webFetch, webSearch } = await import("@capstan/tools");
  switch (name) {
    case "files":
      return fileTools({
        root: folder,
        undo: { folder: join(dataFolder(env), "file-changes") },
        ...(isUntrusted && { provenance: "external" }),
      });
    case "web": {
      const search = webSearch();
      // Without a key, the model's provider would search, which not every model has.
      return search.hosted ? [webFetch()] : [webFetch(), search];
    }
    case "plan":
      return [planTool()];
    case "shell":
      return [shellTool({ cwd: folder })];
    case "memory":
      return memoryTools({ scope: "user" });
    case "schedule": {
      const { scheduleTool } = await import("capstan/schedules");
      return store ? [scheduleTool({ store })] : [];
    }
  }
}

/** Without `shell`, which is a separate set: opening a sandbox takes time. */
const loadBuiltInTools = async (context: ToolContext): Promise<readonly Tool[]> =>
  (
    await Promise.all((["files", "web", "plan", "memory"] as const).map((name) => loadToolSet(name, context)))
  ).flat();

/** Keeps the first tool of each name. */
function removeDuplicates(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
}

function assertKnownTools(
  requested: readonly string[],
  { sets, known }: { readonly sets: ReadonlyMap<string, unknown>; readonly known: readonly Tool[] },
): void {
  for (const name of requested) {
    if (name === "mcp" || sets.has(name) || known.some((tool) => tool.name === name)) continue;
    const names = [...toolSets, "mcp", "none", ...known.map((tool) => tool.name)];
    const hint = suggestName(name, names) || ` Available: ${names.join(", ")}.`;
    throw new AgentError("invalid_input", `Unknown tool "${name}" in --tools.${hint}`);
  }
}
