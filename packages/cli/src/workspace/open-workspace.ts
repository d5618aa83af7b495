import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Agent, PolicyOverrides } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { keyState } from "capstan/models";
import type { Config } from "../config/config.ts";
import { loadProject, type Project } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { projectFolder, withProject } from "../sessions/session-projects.ts";
import { makeDataFolder } from "../trust/trust.ts";
import { makeAgents, modelNameOf } from "./create-agents.ts";
import { workspaceEngine } from "./create-engine.ts";
import { mcpNotices, mcpServersOf, startServers } from "./mcp-servers.ts";
import { databaseOf, openMemory, openStore } from "./open-store.ts";
import type { OpenWorkspace, Workspace, WorkspaceFlags } from "./workspace.ts";

/** Opens everything that a command works on. */
export const openWorkspace: OpenWorkspace = async (flags, io) => {
  const home = dataFolder(io.env);
  makeDataFolder(home);
  const project = await loadProject(flags, io, "required");
  const { config } = project;
  const closing: (() => Promise<unknown>)[] = [async () => config.close?.()];
  const close = async () => {
    for (const closeOne of closing.splice(0).reverse()) await closeOne();
  };
  try {
    const opened =
      flags.session === false ? await openMemory() : await openStore(databaseOf(flags, project, io));
    closing.push(() => opened.store.close());
    const mcp = await startServers(mcpServersOf(flags, project, io), io, flags);
    if (mcp) closing.push(() => mcp.close());
    const team = await makeAgents(flags, { config, mcp, folder: io.cwd, env: io.env });
    const { fileLogs } = await import("capstan/logs/file");
    const logs = fileLogs({ directory: logFolder(project, io), deltas: config.logs?.deltas ?? false });
    closing.push(() => logs.close());
    const policy = policyOf(config, flags);
    const owner = projectFolder(project.configFile, io.cwd);
    const store = withProject(opened.store, owner);
    // What is kept nowhere is not logged either.
    const log = flags.session === false ? () => undefined : logs;
    const engine = workspaceEngine({ store, agents: team.agents, policy, folder: realpathSync(io.cwd), log });
    closing.push(() => engine.close());
    const modelName = modelNameOf(team.agent);
    return {
      ...{ config, home, database: opened.database, project: owner, ...team },
      ...{ policy, store, engine, mcp, logs, close },
      ...(project.configFile !== undefined && { configFile: project.configFile }),
      modelName: isOffline(modelName) ? `${modelName} (rules, not AI)` : modelName,
      notices: [...project.notices, ...mcpNotices(mcp), ...modelNotices(team.agent, io)],
    } satisfies Workspace;
  } catch (error) {
    await close();
    throw error;
  }
};

/** Where logs are written. */
export function logFolder({ config, configFile }: Pick<Project, "config" | "configFile">, io: Io): string {
  const { directory } = config.logs ?? {};
  if (directory === undefined) return join(dataFolder(io.env), "logs");
  return resolve(configFile === undefined ? io.cwd : dirname(configFile), directory);
}

function policyOf({ policy = {} }: Config, { approve, maxTurns, budget }: WorkspaceFlags): PolicyOverrides {
  const approvals = { ask: "ask", all: "allow", none: "deny" } as const;
  return {
    ...policy,
    ...(approve !== undefined && { approvals: approvals[approve] }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(budget !== undefined && { budget: { ...policy.budget, cost: budget } }),
  };
}

const isOffline = (modelName: string): boolean => modelName.startsWith("offline");

/** What keeps the model from answering, or from being one. */
export function modelNotices(agent: Agent, io: Io): readonly string[] {
  const modelName = modelNameOf(agent);
  if (isOffline(modelName))
    return [
      "offline model: rules, not AI. For a real one set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or start Ollama; `capstan models` shows all.",
    ];
  // A model that the configuration has made brings its own key.
  if (typeof agent.models.main[0] !== "string") return [];
  const key = keyState(modelName, io.env);
  if (key.type !== "missing") return [];
  return [`${modelName} has no key: set ${key.variables.join(" or ")}, or choose another model with -m.`];
}
