import type { McpTools } from "@capstan/mcp";
import type { Agent, PolicyOverrides, ResumeOptions, Store } from "capstan";
import type { PolicyLimits, StoredAgents } from "capstan/agents";
import type { LocalEngine } from "capstan/engines/local";
import type { Spending } from "./access/daily-budget.ts";
import type { Allowance } from "./access/quota.ts";
import type { SignIns } from "./access/sign-ins.ts";
import type { MountedMcp } from "./protocols/mount-mcp.ts";
import type { RunsAtWork } from "./runs/active-runs.ts";
import type { ModelChoices } from "./runs/agent-resolver.ts";
import type { Passing } from "./runs/ephemeral-runs.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { AgentParts } from "./views/agent-parts.ts";
import type { McpCalls } from "./views/mcp-server-view.ts";
import type { AgentProfiles } from "./views/server-info.ts";

/** What the routes work on: the one server behind all requests. */
export type Deployment = {
  readonly store: Store;
  /** Runs that are kept: they survive the process. */
  readonly engine: LocalEngine;
  /** Runs whose history the client keeps. */
  readonly passing: Passing;
  readonly mcp: MountedMcp;
  /** The MCP servers whose tools the agents use. */
  readonly mcpTools: McpTools | undefined;
  readonly mcpCalls: McpCalls;
  /** How agents are shown to people. */
  readonly introductions: AgentProfiles;
  /** What stored agents can be made of. */
  readonly agentParts: AgentParts;
  readonly agents: StoredAgents;
  /** Finds an agent by its name, or the first one, with another model if one is named. Throws `unknown_agent`. */
  agent(name?: string, model?: string): Promise<Agent>;
  /** The agent of a run: by its name, also as `name@model`. */
  findAgent(name: string): Promise<Agent | undefined>;
  /** The models that requests may choose from. */
  readonly models: ModelChoices;
  readonly policy: PolicyOverrides | undefined;
  /** The loosest policy that a request may ask for. */
  readonly policyLimits: PolicyLimits;
  readonly allowance: Allowance;
  /** Those of the engine. */
  readonly atWork: RunsAtWork;
  /** Throws `overloaded` while there is no room for more work. */
  assertRoom(): void;
  readonly spending: Spending;
  readonly signIns: SignIns;
  readonly metrics: Metrics;
  /** Aborted when the server is about to leave. */
  readonly leaving: AbortSignal;
  /** What a run needs that is not stored: its context, hooks and secrets. */
  optionsFor(run: { readonly scope: string; readonly sessionId: string }): Promise<ResumeOptions>;
  /** The debug log of the chat: a line for each event that is sent. */
  readonly sseLog: ((line: string) => void) | undefined;
  /** For the log of whoever runs the server, never for clients. Gives an id to find it by. */
  report(thrown: unknown): string;
};
