import type { McpTools, ServerConfig } from "@capstan/mcp";
import type { AgentProfiles, UserLimits } from "@capstan/server";
import type { Agent, Model, PolicyOverrides, Tool } from "capstan";
import type { PolicyLimits, StoredAgentsOptions } from "capstan/agents";

/** Tools that come with Capstan: those for files of the folder, `web_fetch`, and the plan. */
export type ToolSet = "files" | "web" | "plan";

/** How `capstan dev` and `capstan serve` listen. */
export type ServerSettings = {
  readonly port?: number;
  readonly host?: string;
  /** What every request must present. Better left to the environment: `CAPSTAN_API_KEY`. */
  readonly apiKey?: string;
  /** Names under which clients may call it, besides its own. */
  readonly hosts?: readonly string[];
  /** Pages of other origins that may call it. */
  readonly origins?: readonly string[];
  /** How much each user may have at a time, and spend in a day. */
  readonly limits?: Partial<UserLimits>;
  /** The loosest policy that a request may ask for. */
  readonly policyLimits?: PolicyLimits;
};

/** Where logs are written, and what of. */
export type LogSettings = {
  /** By default `logs` in the data folder. */
  readonly directory?: string;
  /** Whether the pieces of texts are in the event log too. */
  readonly deltas?: boolean;
};

/** What `capstan.config.ts` says, as its default export. */
export type Config = {
  /** The first one answers unless `--agent` names another. Left out: one that uses `tools` and the first of `models`. */
  readonly agents?: readonly Agent[];
  /** How agents are shown to people, by name: a title, a description, and what one could ask first. */
  readonly about?: AgentProfiles;
  /** MCP servers by name, as in `.mcp.json`; their tools are given to every agent. */
  readonly mcpServers?: Readonly<Record<string, ServerConfig>>;
  /** Servers that the configuration started itself, for agents of its own: to be seen in the studio. Close them in `close`. */
  readonly mcp?: McpTools;
  /** For every run. Flags go before it, and it before what an agent says. */
  readonly policy?: PolicyOverrides;
  /** What people may choose from, as `provider/model` or a model; the first is the one in use without agents. */
  readonly models?: readonly (string | Model)[];
  /** For the agent that is there without `agents`, and what `--tools` may name. By default files and web. */
  readonly tools?: readonly (Tool | ToolSet)[];
  /** What agents that people make in the studio may use: by default the tools of `agents`, the model of the first one, and `models`. */
  readonly storedAgents?: Omit<StoredAgentsOptions, "store" | "coded">;
  readonly server?: ServerSettings;
  /** A file, relative to the configuration, or `postgres://…`. */
  readonly database?: string;
  readonly logs?: LogSettings;
  /** Called once, when everything that was made from this configuration has ended: for what it opened itself. */
  readonly close?: () => unknown;
};

/** Says what a configuration is, for editors: `export default defineConfig({ … })`. */
export function defineConfig(config: Config): Config {
  return config;
}
