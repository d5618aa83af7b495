import type { McpTools } from "@capstan/mcp";
import type { Agent, JsonSchema, PolicyOverrides, Store } from "capstan";
import type { LocalEngine } from "capstan/engines/local";
import type { FileLogs } from "capstan/logs/file";
import type { Config } from "../config/config.ts";
import type { Io } from "../io.ts";

/** What flags of the command line say about agents, models, tools and where things are. */
export type WorkspaceFlags = {
  readonly config?: string | undefined;
  readonly database?: string | undefined;
  readonly model?: string | undefined;
  readonly agent?: string | undefined;
  readonly tools?: string | undefined;
  readonly mcpConfig?: string | undefined;
  readonly approve?: "ask" | "all" | "none" | undefined;
  readonly maxTurns?: number | undefined;
  readonly budget?: number | undefined;
  /** In place of the agent's instructions. */
  readonly system?: string | undefined;
  /** The form that answers must have. */
  readonly answerSchema?: JsonSchema | undefined;
  /** Trusts the folders that configuration was found in, from now on. */
  readonly trust?: boolean | undefined;
  /** False: what is said is kept nowhere. */
  readonly session?: boolean | undefined;
  /** Nobody is asked anything, also in a terminal. */
  readonly isScript?: boolean | undefined;
};

/** Everything that a command works on, opened: the configuration, the agents, the store, the MCP servers, the logs. */
export interface Workspace {
  readonly config: Config;
  /** Where the configuration was found; left out when there is none. */
  readonly configFile?: string;
  /** Whose the runs are that are begun here: the folder of the configuration, or the current one. */
  readonly project: string;
  /** The data folder (`CAPSTAN_HOME`): database, logs, trust. */
  readonly home: string;
  /** The file, or the address without its password. */
  readonly database: string;
  readonly agents: readonly Agent[];
  /** The one that flags or the configuration choose. */
  readonly agent: Agent;
  /** How its model is called, for people; says so when it is the offline one. */
  readonly modelName: string;
  /** What `--approve`, `--max-turns` and `--budget` make of the policy. */
  readonly policy: PolicyOverrides;
  readonly store: Store;
  /**
   * Its runs are logged, belong to the folder (for `--continue`) and have the workspace's policy when they are given
   * none. Takes over no run by itself: `open` and `tell` take up the one they name, when nobody is at work on it.
   */
  readonly engine: LocalEngine;
  readonly mcp: McpTools | undefined;
  readonly logs: FileLogs;
  /** What a person should be told at the start: a key that is missing, a folder that is not trusted, a server that failed. */
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** Opens it. Throws an `AgentError` that names the next step. */
export type OpenWorkspace = (flags: WorkspaceFlags, io: Io) => Promise<Workspace>;
