import type { McpTools } from "@capstan/mcp";
import type { Agent, PolicyOverrides, ResumeOptions, Store } from "capstan";
import type { PolicyLimits, SettingsLimits } from "capstan/agents";
import type { LocalEngine } from "capstan/engines/local";
import type { loadRequests } from "capstan/sessions";
import type { Admission } from "./access/admission.ts";
import type { ApiKeys } from "./access/api-keys.ts";
import type { QuotaSource } from "./access/authenticate.ts";
import type { Quota } from "./access/quota.ts";
import type { QuotaAdmission } from "./access/quota-admission.ts";
import type { ModelLimits } from "./access/rate-limits.ts";
import type { SignIns } from "./access/sign-ins.ts";
import type { EventViews } from "./event-views/event-view.ts";
import type { Experiments } from "./experiments/experiments.ts";
import type { SseLog } from "./http/event-stream.ts";
import type { McpSettings } from "./mcp-settings.ts";
import type { ServerAgents } from "./own-data/data-agents.ts";
import type { OwnData } from "./own-data/own-data.ts";
import type { ClientProvenance } from "./protocols/client-entry.ts";
import type { MountedMcp } from "./protocols/mount-mcp.ts";
import type { ActiveRuns } from "./runs/active-runs.ts";
import type { ModelChoices } from "./runs/agent-resolver.ts";
import type { EphemeralRuns } from "./runs/ephemeral-runs.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { RequestLog } from "./telemetry/request-log.ts";
import type { AgentParts } from "./views/agent-parts.ts";
import type { McpCalls } from "./views/mcp-server-view.ts";
import type { AgentProfiles } from "./views/server-info.ts";
import type { ConfiguredWebhook } from "./webhooks/webhook.ts";

/** Own data, and what requests may do with it. */
export type OwnDataAccess = {
  readonly data: OwnData;
  /** Whether an admin may name files and folders of this machine. */
  readonly allowsPaths: boolean;
};

/** Services that the route handlers use: one instance per server. */
export type Deployment = {
  readonly store: Store;
  /** Runs stored by the server; they survive the process. */
  readonly engine: LocalEngine;
  /** How long the engine of a process that died keeps its sessions. */
  readonly leaseMs: number;
  /** Runs whose history the client keeps. */
  readonly ephemeralRuns: EphemeralRuns;
  readonly mcpService: MountedMcp;
  readonly mcpTools: McpTools | undefined;
  readonly mcpCalls: McpCalls;
  readonly mcpSettings: McpSettings;
  readonly agentProfiles: AgentProfiles;
  /** Tools, sources and models that stored agents can use. */
  readonly agentParts: AgentParts;
  readonly agents: ServerAgents;
  readonly ownData: OwnDataAccess | undefined;
  readonly experiments: Experiments;
  /** Resolves an agent by name (default: the first agent), optionally with another model. Throws `unknown_agent`. */
  resolveAgent(name?: string, model?: string): Promise<Agent>;
  /** Finds the agent of a stored run by its recorded name, which may be `name@model`. */
  findAgent(name: string): Promise<Agent | undefined>;
  /** Returns the model requests of a turn as they were sent. */
  loadRequests(turn: Parameters<typeof loadRequests>[1]): ReturnType<typeof loadRequests>;
  /** Models that a request may choose. */
  readonly models: ModelChoices;
  readonly policy: PolicyOverrides | undefined;
  /** Views of the events that a client may request. */
  readonly eventViews: EventViews;
  /** Who answers for text that client applications add to the user's. */
  readonly clientProvenance: ClientProvenance;
  /** Upper bounds for the policy of a request. */
  readonly policyLimits: PolicyLimits;
  /** Upper bounds for the settings of a request. */
  readonly settingsLimits: SettingsLimits;
  readonly quota: Quota;
  /** Runs of the engine that are active in this process. */
  readonly activeRuns: ActiveRuns;
  readonly admission: Admission;
  /** Admits runs within the quotas of their users. */
  readonly quotaAdmission: QuotaAdmission;
  readonly modelLimits: ModelLimits | undefined;
  readonly quotas: QuotaSource;
  readonly keys: ApiKeys;
  readonly signIns: SignIns;
  /** Webhooks that start runs, by name. */
  readonly webhooks: ReadonlyMap<string, ConfiguredWebhook>;
  readonly metrics: Metrics;
  readonly requestLog: RequestLog | undefined;
  /** Whether an admin has stopped the admission of new work in this process. Active runs continue. */
  readonly drain: { isOn: boolean };
  /** Aborted when the server starts to shut down. */
  readonly shutdownSignal: AbortSignal;
  /** Returns the options of a run that are not stored: context, hooks and secrets. */
  getRunOptions(run: {
    readonly scope: string;
    readonly sessionId: string;
    /** Default: true. */
    readonly isStored?: boolean;
  }): Promise<ResumeOptions>;
  /** Path under which the server is mounted; empty at the root of its host. */
  readonly basePath: string;
  readonly sseLog: SseLog | undefined;
  /** Writes an error to the operator's log and returns its log id. Nothing of it is sent to clients. */
  report(thrown: unknown): string;
};
