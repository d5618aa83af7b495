import type { McpTools, ServerConfig } from "@capstan/mcp";
import type {
  AgentProfiles,
  CreateEngine,
  DataLoader,
  EventViews,
  ProviderRateLimits,
  QuotaSettings,
  Retention,
  ServerOptions,
  Webhooks,
} from "@capstan/server";
import type { Agent, Model, PolicyOverrides, Tool } from "capstan";
import type { PolicyLimits, SettingsLimits, StoredAgentsOptions } from "capstan/agents";
import type { EngineName } from "../serve/engine/load-engine.ts";

/** Built-in tools: files of the folder, `web_fetch`, the plan, a shell, memories about the user, schedules. */
export type ToolSet = "files" | "web" | "plan" | "shell" | "memory" | "schedule";

/** Settings of `capstan dev` and `capstan serve`. */
export type ServerSettings = {
  readonly port?: number;
  readonly host?: string;
  /** Required with every request. Prefer the environment variable `CAPSTAN_API_KEY`. */
  readonly apiKey?: string;
  /** Additional host names that clients may use. */
  readonly hosts?: readonly string[];
  /** Other origins whose pages may call the server. */
  readonly origins?: readonly string[];
  /** Quotas of all users, and of single ones. `capstan quotas` overrides them. */
  readonly quotas?: QuotaSettings;
  /** Requests and tokens per provider, in all processes on the database: `{ openai: { requests: { minute: 500 } } }`. */
  readonly rateLimits?: ProviderRateLimits;
  /** Active runs of this process; further runs are refused. */
  readonly maxRuns?: number;
  /** Another process takes over a run whose process gave no sign of life for this long. Default: 15,000. */
  readonly leaseMs?: number;
  /** Further limits of this process, beyond which new work is refused. */
  readonly load?: ServerOptions["load"];
  /** Upper bounds for the policy of a request. */
  readonly policyLimits?: PolicyLimits;
  /** Whether admins may add MCP servers that are programs, which run with the rights of the server. Default: false. */
  readonly mcpCommands?: boolean;
  /** The most that a request may ask of a model. */
  readonly settingsLimits?: SettingsLimits;
  /** Removes old or large sessions in the background. */
  readonly retention?: Retention;
  /** `operator`: all clients are yours and add nothing that others wrote. Default: `application`. */
  readonly clientProvenance?: ServerOptions["clientProvenance"];
  /** Debug log of the server-sent events: a file, or true for stderr. `--sse-log` overrides it. */
  readonly sseLog?: string | true;
};

/** Settings of the logs. */
export type LogSettings = {
  /** Default: `logs` in the data folder. */
  readonly directory?: string;
  /** Whether to log deltas too. */
  readonly deltas?: boolean;
};

/** Default export of `capstan.config.ts`. */
export type Config = {
  /** The first agent is the default; `--agent` chooses another. Default: one agent with `tools` and the first of `models`. */
  readonly agents?: readonly Agent[];
  /** Title, description and suggested prompts of each agent, by name. */
  readonly about?: AgentProfiles;
  /** The events of a run in an app's own vocabulary, by the name in `?events=<name>`. */
  readonly eventViews?: EventViews;
  /** Signed requests that start runs, by their name in `POST /webhooks/{name}`, and where the results are sent. */
  readonly webhooks?: Webhooks;
  /** Opens apps on the user's own data, by the name of the app's agent: `capstan app` and the studio use them. */
  readonly data?: Readonly<Record<string, DataLoader>>;
  /** MCP servers by name, as in `.mcp.json`. Every agent gets their tools. */
  readonly mcpServers?: Readonly<Record<string, ServerConfig>>;
  /** MCP servers that the config starts itself, to show them in the studio. Close them in `close`. */
  readonly mcp?: McpTools;
  /** Applies to every run. Flags override it; it overrides the agents' policies. */
  readonly policy?: PolicyOverrides;
  /** Models to choose from, as `provider/model` or model objects. Without `agents` the first is used. */
  readonly models?: readonly (string | Model)[];
  /** Tools of the default agent, also available to `--tools`. Default: files and web. */
  readonly tools?: readonly (Tool | ToolSet)[];
  /** Folders of Agent Skills, relative to the config. Every agent gets them, and the skills of the user and the project. */
  readonly skills?: readonly string[];
  /** Tools and models for agents created in the studio. Default: the tools of `agents`, the first agent's model and `models`. */
  readonly storedAgents?: Omit<StoredAgentsOptions, "store" | "coded">;
  readonly server?: ServerSettings;
  /** A file path relative to the config, or `postgres://…`. */
  readonly database?: string;
  /**
   * The engine that executes runs on a server or worker: a name, or a function that creates it. `--engine` overrides it.
   * Default: `local`.
   */
  readonly engine?: EngineName | CreateEngine;
  /**
   * Identifies the project in a database that several projects or machines share: a process resumes the runs of its
   * project only. Default: the folder of the config.
   */
  readonly project?: string;
  /**
   * Log files of each session, deleted with it: true or settings to write them, false to write none. Default: `capstan
   * serve` and `capstan worker` write none, everything else does.
   */
  readonly logs?: boolean | LogSettings;
  /** Folders with eval files (`*.eval.ts`), relative to the config. Default: `evals`. */
  readonly evals?: readonly string[];
  /** Called once after everything created from this config is closed. Close what the config opened itself. */
  readonly close?: () => unknown;
};

/** Returns the config unchanged; gives editors its type: `export default defineConfig({ … })`. */
export function defineConfig(config: Config): Config {
  return config;
}
