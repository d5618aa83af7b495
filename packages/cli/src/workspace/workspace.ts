import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { CallbackRedirect, McpTools } from "@capstan/mcp";
import type { OwnData } from "@capstan/server";
import type { Agent, Effort, Event, JsonSchema, PolicyOverrides, Store } from "capstan";
import { dataFolder } from "capstan/data-folder";
import type { LocalEngine } from "capstan/engines/local";
import type { FileLogs } from "capstan/logs/file";
import { keyState } from "capstan/models/default";
import type { Config, LogSettings } from "../config/config.ts";
import { ensureDataFolder } from "../config/ensure-data-folder.ts";
import { loadProject, type Project } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { getProjectFolder, withProject } from "../sessions/session-projects.ts";
import { withSessionCleanup } from "../sessions/with-session-cleanup.ts";
import { isTrusted } from "../trust/trust.ts";
import { createAgents, getModelName } from "./create-agents.ts";
import { createEngine } from "./create-engine.ts";
import { collectMcpServers, getMcpNotices, startServers } from "./mcp-servers.ts";
import { openMemory, openStore, resolveDatabase } from "./open-store.ts";
import { loadDataAgents, openProjectData } from "./project-data.ts";
import { openSkills, type WorkspaceSkills } from "./skills.ts";

/** Command-line flags for agents, models, tools and file locations. */
export type WorkspaceFlags = {
  readonly config?: string | undefined;
  /** Looked for instead of `capstan.config.ts`. */
  readonly configNames?: readonly string[] | undefined;
  readonly database?: string | undefined;
  readonly model?: string | undefined;
  /** How much the model of the chosen agent reasons. */
  readonly effort?: Effort | undefined;
  readonly temperature?: number | undefined;
  readonly agent?: string | undefined;
  readonly tools?: string | undefined;
  readonly mcpConfig?: string | undefined;
  readonly approve?: "ask" | "all" | "none" | undefined;
  readonly maxTurns?: number | undefined;
  readonly budget?: number | undefined;
  /** Replaces the agent's instructions. */
  readonly system?: string | undefined;
  /** JSON Schema of the answer. */
  readonly answerSchema?: JsonSchema | undefined;
  /** Trusts the folder and the config files that are found, as they are, permanently. */
  readonly trust?: boolean | undefined;
  /** Also uses trusted files that have changed, without asking: the user edits them while `capstan dev` runs. */
  readonly acceptChanges?: boolean | undefined;
  /** False: neither sessions nor logs are stored. */
  readonly session?: boolean | undefined;
  /** Whether runs are logged if the config does not say so. Default: true. */
  readonly logs?: boolean | undefined;
  /** Never prompts, even in a terminal. */
  readonly isScript?: boolean | undefined;
  /** Signs in to MCP servers on a page of the server. With it, servers can be added later. */
  readonly mcpRedirect?: CallbackRedirect | undefined;
  /** Adds own data before the agents are created. Returns the agent to use instead of `agent`. */
  readonly prepareData?: ((data: OwnData | undefined) => Promise<string | undefined>) | undefined;
  /** Called with the loaded config, before anything is opened. */
  readonly onConfig?: ((config: Config) => Promise<void>) | undefined;
};

/** Everything a command works with: the config, the agents, the store, the MCP servers and the logs. */
export interface Workspace {
  readonly config: Config;
  /** Path of the config file; undefined without one. */
  readonly configFile?: string;
  /** The project that owns the runs started here: its name, the folder of the config file, or the current folder. */
  readonly project: string;
  /** Whether the folder is trusted, and every config file that was found. */
  readonly isTrusted: boolean;
  /** The data folder (`CAPSTAN_HOME`): database, logs, trusted folders. */
  readonly home: string;
  /** The database file, or its URL without the password. */
  readonly database: string;
  readonly agents: readonly Agent[];
  /** The agent chosen by the flags or the config. */
  readonly agent: Agent;
  /** Display name of its model; marks the offline model as such. */
  readonly modelName: string;
  /** The config's policy with `--approve`, `--max-turns` and `--budget` applied. */
  readonly policy: PolicyOverrides;
  readonly store: Store;
  /**
   * Logs its runs, records their folder (for `--continue`) and applies the workspace's policy unless a run brings its
   * own. Takes over no run by itself: `open` and `send` resume the run they name when no other process is running it.
   */
  readonly engine: LocalEngine;
  readonly mcp: McpTools | undefined;
  /** Skills of the config, the user and the project; undefined without any. */
  readonly skills: WorkspaceSkills | undefined;
  /** The folder of the log files; undefined if none are written. */
  readonly logFolder: string | undefined;
  /** Writes an event to the log files of its session, if there are any. */
  log(event: Event): void;
  /** Resolves when all events so far are in the log files. */
  flushLogs(): Promise<void>;
  /** Own data that the apps of the config are opened on; undefined if none can be. */
  readonly data: OwnData | undefined;
  /** Shown at startup: missing API keys, untrusted folders, failed servers. */
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** Opens the workspace. Throws an `AgentError` that names the next step. */
export async function openWorkspace(flags: WorkspaceFlags, io: Io): Promise<Workspace> {
  const home = dataFolder(io.env);
  ensureDataFolder(home);
  const project = await loadProject(flags, io, "required");
  const { config } = project;
  const cleanups: (() => Promise<unknown>)[] = [async () => config.close?.()];
  const close = async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  };
  try {
    await flags.onConfig?.(config);
    const opened =
      flags.session === false ? await openMemory() : await openStore(resolveDatabase(flags, project, io));
    cleanups.push(() => opened.store.close());
    const data = await openProjectData(project, opened.store, io);
    if (data) cleanups.push(() => data.close());
    const agent = (await flags.prepareData?.(data)) ?? flags.agent;
    const dataAgents = data ? await loadDataAgents(data, agent, io) : [];
    const mcp = await startServers(collectMcpServers(flags, project, io), io, flags);
    if (mcp) cleanups.push(() => mcp.close());
    const isUntrusted = project.untrusted.length > 0;
    const agents = [...(config.agents ?? []), ...dataAgents];
    const skills = await openSkills(project, io);
    const owner = config.project ?? getProjectFolder(project.configFile, io.cwd);
    const logs = await openLogs(project, io);
    cleanups.push(() => logs.close());
    const store = withSessionCleanup(withProject(opened.store, owner), logs);
    const places = { folder: io.cwd, env: io.env, store };
    const context = { config: { ...config, agents }, mcp, skills, isUntrusted, ...places };
    const team = await createAgents({ ...flags, agent }, context);
    const policy = applyFlags(config, flags);
    // Runs that are not stored are not logged either.
    const isLogged = flags.session !== false && (config.logs ?? flags.logs ?? true) !== false;
    const log = isLogged ? logs : () => undefined;
    const engine = createEngine({ store, agents: team.agents, policy, folder: realpathSync(io.cwd), log });
    cleanups.push(() => engine.close());
    const modelName = getModelName(team.agent);
    return {
      ...{ config, home, database: opened.database, project: owner, ...team },
      ...{ policy, store, engine, mcp, skills, data, close },
      ...{ log, flushLogs: logs.flush, logFolder: isLogged ? getLogFolder(project, io) : undefined },
      isTrusted: !isUntrusted && isTrusted(io.cwd, io.env),
      ...(project.configFile !== undefined && { configFile: project.configFile }),
      modelName: isOffline(modelName) ? `${modelName} (rules, not AI)` : modelName,
      notices: [...project.notices, ...getMcpNotices(mcp), ...getModelNotices(team.agent, io)],
    } satisfies Workspace;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the log files of a project, also to delete what earlier processes have logged. */
export async function openLogs(project: Pick<Project, "config" | "configFile">, io: Io): Promise<FileLogs> {
  const { fileLogs } = await import("capstan/logs/file");
  const { deltas = false } = getLogSettings(project);
  return fileLogs({ directory: getLogFolder(project, io), deltas });
}

const getLogSettings = ({ config: { logs } }: Pick<Project, "config">): LogSettings =>
  typeof logs === "object" ? logs : {};

/** Returns the folder that logs are written to. */
export function getLogFolder({ config, configFile }: Pick<Project, "config" | "configFile">, io: Io): string {
  const { directory } = getLogSettings({ config });
  if (directory === undefined) return join(dataFolder(io.env), "logs");
  return resolve(configFile === undefined ? io.cwd : dirname(configFile), directory);
}

function applyFlags({ policy = {} }: Config, { approve, maxTurns, budget }: WorkspaceFlags): PolicyOverrides {
  const approvals = { ask: "ask", all: "allow", none: "deny" } as const;
  return {
    ...policy,
    ...(approve !== undefined && { approvals: approvals[approve] }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(budget !== undefined && { budget: { ...policy.budget, cost: budget } }),
  };
}

const isOffline = (modelName: string): boolean => modelName.startsWith("offline");

/** Returns notices about a missing API key or the offline model. */
export function getModelNotices(agent: Agent, io: Io): readonly string[] {
  const modelName = getModelName(agent);
  if (isOffline(modelName))
    return [
      "Offline model: rules, not AI. For a real model, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or start Ollama. Run `capstan models` to list all models.",
    ];
  // A model object created in the config brings its own key.
  if (typeof agent.models.main[0] !== "string") return [];
  const key = keyState(modelName, io.env);
  if (key.type !== "missing") return [];
  return [`No API key for ${modelName}: set ${key.variables.join(" or ")}, or choose another model with -m.`];
}
