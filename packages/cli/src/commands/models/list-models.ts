import { findModelsOnMachine } from "capstan/model-files";
import { type KeyState, type KnownModel, knownModels } from "capstan/models";
import { formatCount } from "../../chat/format-usage.ts";
import type { Config } from "../../config/config.ts";
import { loadProject } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { escapeTerminal } from "../../terminal/escape-terminal.ts";
import { createAgents, getModelName } from "../../workspace/create-agents.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { getModelNotices } from "../../workspace/workspace.ts";

/** `capstan models`. */
export async function listModels(flags: WorkspaceFlags & { readonly json?: boolean }, io: Io): Promise<void> {
  const project = await loadProject(flags, io, "optional");
  const { agent, agents } = await createAgentsWithoutMcp(flags, project.config, io);
  const chosen = (project.config.models ?? []).map((model) => (typeof model === "string" ? model : model.id));
  const named = [...chosen, ...agents.map(getModelName)];
  const found = await findModelsOnMachine(io.env);
  const known = await knownModels({ inUse: getModelName(agent), named, found, env: io.env });
  for (const notice of [...project.notices, ...getModelNotices(agent, io)])
    io.stderr.write(`${escapeTerminal(notice)}\n`);
  io.stdout.write(flags.json ? formatJson(known) : formatTable(known, columns, io));
}

/** Creates the agents without MCP tools, so that no server has to start. */
export async function createAgentsWithoutMcp(
  flags: WorkspaceFlags,
  config: Config,
  io: Io,
): Promise<Awaited<ReturnType<typeof createAgents>>> {
  return createAgents(
    { ...flags, tools: undefined },
    { config, mcp: undefined, folder: io.cwd, env: io.env },
  );
}

const columns: readonly Column<KnownModel>[] = [
  { name: " ", value: ({ inUse }) => (inUse ? "*" : "") },
  { name: "MODEL", value: ({ model, provider }) => model ?? `${provider}/…`, shrinks: true },
  { name: "KEY", value: ({ key }) => formatKeyColumn(key) },
  { name: "$/M IN", value: ({ price }) => (price ? String(price.input) : ""), optional: true },
  { name: "$/M OUT", value: ({ price }) => (price ? String(price.output) : ""), optional: true },
  {
    name: "CONTEXT",
    value: ({ contextWindow }) => (contextWindow ? formatCount(contextWindow) : ""),
    optional: true,
  },
];

/** Formats whether the API key is set. */
export function formatKeyColumn(key: KeyState): string {
  switch (key.type) {
    case "set":
      return `${key.variable} is set`;
    case "missing":
      return `set ${key.variables.join(" or ")}`;
    case "external":
      return key.source;
    case "not_needed":
      return "none needed";
    case "unknown_provider":
      return "custom";
  }
}
