import type { McpTools } from "@capstan/mcp";
import { AgentError, suggestName, type Tool } from "capstan";
import type { Config, ToolSet } from "../config/config.ts";
import type { Io } from "../io.ts";

/** What tools may be chosen from. */
export type Shelf = {
  readonly config: Config;
  readonly mcp: McpTools | undefined;
  /** The folder of the file tools. */
  readonly folder: string;
  readonly env: Io["env"];
};

/** The tools of an agent: its own by default, or those that `--tools` names, one by one or as sets. */
export async function chooseTools(
  given: string | undefined,
  own: () => readonly Tool[],
  shelf: Shelf,
): Promise<() => readonly Tool[]> {
  const { mcp } = shelf;
  if (given === undefined) return mcp ? () => unique([...own(), ...mcp.tools]) : own;
  const names = given.split(",").map((name) => name.trim());
  const wanted = names.filter((name) => name !== "" && name !== "none");
  const sets = new Map<string, readonly Tool[]>();
  for (const name of wanted) if (isToolSet(name)) sets.set(name, await toolSet(name, shelf.folder));
  const loose = async () =>
    unique([...own(), ...(await configured(shelf)), ...(await builtIn(shelf.folder))]);
  const single = wanted.some((name) => !isToolSet(name) && !name.startsWith("mcp")) ? await loose() : [];
  const chosen = () => {
    const known = [...single, ...(mcp?.tools ?? [])];
    return unique(
      wanted.flatMap((name) => {
        if (name === "mcp") return mcp?.tools ?? [];
        return sets.get(name) ?? known.filter((tool) => tool.name === name);
      }),
    );
  };
  assertKnown(wanted, { sets, known: [...single, ...(mcp?.tools ?? [])] });
  return chosen;
}

/** The tools of the agent that is there without any configured. */
export async function configured({ config, folder }: Shelf): Promise<readonly Tool[]> {
  const lists = (config.tools ?? ["files", "web"]).map(async (tool) =>
    typeof tool === "string" ? toolSet(tool, folder) : [tool],
  );
  return unique((await Promise.all(lists)).flat());
}

const toolSets: readonly ToolSet[] = ["files", "web", "plan"];
const isToolSet = (name: string): name is ToolSet => toolSets.some((set) => set === name);

async function toolSet(name: ToolSet, folder: string): Promise<readonly Tool[]> {
  const { fileTools, planTool, webFetch } = await import("@capstan/tools");
  switch (name) {
    case "files":
      return fileTools({ root: folder });
    case "web":
      return [webFetch()];
    case "plan":
      return [planTool()];
  }
}

const builtIn = async (folder: string): Promise<readonly Tool[]> =>
  (await Promise.all(toolSets.map((name) => toolSet(name, folder)))).flat();

/** The first one of a name has it. */
function unique(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
}

function assertKnown(
  wanted: readonly string[],
  { sets, known }: { readonly sets: ReadonlyMap<string, unknown>; readonly known: readonly Tool[] },
): void {
  for (const name of wanted) {
    if (name === "mcp" || sets.has(name) || known.some((tool) => tool.name === name)) continue;
    const names = [...toolSets, "mcp", "none", ...known.map((tool) => tool.name)];
    const hint = suggestName(name, names) || ` There are: ${names.join(", ")}.`;
    throw new AgentError("invalid_input", `--tools names "${name}", which is no tool.${hint}`);
  }
}
