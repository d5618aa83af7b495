import type { CallbackRedirect, McpTools } from "@capstan/mcp";
import {
  createServer,
  type McpSettings,
  type Server,
  type ServerOptions,
  type Telemetry,
  telemetry,
} from "@capstan/server";
import { type Agent, type Event, escapeInvisible, type RunInfo, type Tool } from "capstan";
import type { Config } from "../config/config.ts";
import type { Io } from "../io.ts";
import { openProjectServers } from "../mcp-config/project-servers.ts";
import { withOwnOrphans } from "../sessions/session-projects.ts";
import type { Workspace, WorkspaceFlags } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { loadEngine } from "./engine/load-engine.ts";
import type { EngineFlags, LoadedEngine } from "./engine/loaded-engine.ts";
import { createErrorLog } from "./error-log.ts";
import { openLineLog } from "./line-log.ts";
import { formatOrphanedRuns } from "./orphaned-runs.ts";
import { loadWidgetPage } from "./studio.ts";

/** A workspace and its server, created from one version of the config. */
export interface ServerInstance {
  readonly workspace: Workspace;
  readonly server: Server;
  /** Resolves when no run and no request is active. */
  whenIdle(): Promise<void>;
  /** Makes this process a worker of its engine. Returns lines for the announcement. */
  startWork(): Promise<readonly string[]>;
  close(patienceMs?: number): Promise<void>;
}

/** Where to write logs: a file, or true for the terminal. */
export type LogFlags = {
  /** A JSON line per request. */
  readonly log?: string | true;
  /** A line per server-sent event. */
  readonly sseLog?: string | true;
};

export type ServerInstanceOptions = {
  readonly flags: WorkspaceFlags & EngineFlags & LogFlags & { readonly mcpCommands?: boolean };
  readonly io: Io;
  /** Whether a server for a trial is started for an engine that needs one. */
  readonly isTrial?: boolean;
  /** Folder of the studio's pages. */
  readonly studio?: string | undefined;
  /** Whether only this machine can reach the server, so that its user may open paths. Default: false. */
  isLocal?(config: Config): boolean;
  /** Whether admins may add, remove and sign in to MCP servers. Default: false. */
  readonly changesMcp?: boolean;
  /** Called after a change of `.mcp.json` by an admin. */
  onMcpChange?(path: string): void;
  /** Called with the loaded config, before anything is opened. */
  onConfig?(config: Config): Promise<void>;
};

/** Opens the workspace and creates the server, which does not listen yet. */
export async function openServerInstance(options: ServerInstanceOptions): Promise<ServerInstance> {
  const { flags, io, onConfig } = options;
  const mcpRedirect = options.changesMcp ? await createRedirect() : undefined;
  const workspace = await openWorkspace({ ...flags, onConfig, mcpRedirect }, io);
  const activity = trackActivity();
  let tracing: Telemetry | undefined;
  try {
    const onError = createErrorLog(workspace.home, io);
    tracing = await telemetry(io.env, { onError: (error) => onError(error, "tracing") });
    const { onEvent, close: endTracing } = tracing;
    const handleEvent = (event: Event) => {
      activity.onEvent(event);
      onEvent(event);
    };
    const engine = await loadEngine({ flags, workspace, io, isTrial: options.isTrial });
    const { config } = workspace;
    const mcpSettings = mcpRedirect && {
      redirect: mcpRedirect,
      file: openProjectServers(io, options.onMcpChange),
      allowsCommands: flags.mcpCommands ?? config.server?.mcpCommands ?? false,
    };
    const mcp = await joinServers(workspace);
    const widgets = await loadWidgetPage();
    const parts = { ...options, engine, mcp, mcpSettings, widgets };
    const server = createWorkspaceServer(workspace, parts, handleEvent);
    let closed: Promise<void> | undefined;
    const close = (patienceMs?: number): Promise<void> => {
      closed ??= server
        .close(patienceMs)
        .finally(endTracing)
        .finally(() => workspace.close());
      return closed;
    };
    const fetch: Server["fetch"] = (...request) => activity.track(() => server.fetch(...request));
    const { whenIdle } = activity;
    const startWork = async () => (await engine.startWork?.()) ?? [];
    return { workspace, server: { ...server, fetch, close }, whenIdle, startWork, close };
  } catch (error) {
    await tracing?.close();
    await workspace.close();
    throw error;
  }
}

/** Users sign in on a page of the server, which the studio opens. */
async function createRedirect(): Promise<CallbackRedirect> {
  const { callbackRedirect } = await import("@capstan/mcp");
  return callbackRedirect({ hint: "sign in on the page MCP servers of the studio" });
}

/** Joins the servers of the files and of the config's own `mcp`. */
async function joinServers({ mcp, config }: Workspace): Promise<McpTools | undefined> {
  if (!mcp || !config.mcp) return mcp ?? config.mcp;
  const { joinMcpTools } = await import("@capstan/mcp");
  return joinMcpTools(mcp, config.mcp);
}

type WorkspaceServerOptions = ServerInstanceOptions & {
  readonly engine: LoadedEngine;
  readonly mcp: McpTools | undefined;
  readonly mcpSettings: McpSettings | undefined;
  readonly widgets: string | undefined;
};

function createWorkspaceServer(
  workspace: Workspace,
  { flags, io, engine, studio, isLocal, mcp, mcpSettings, widgets }: WorkspaceServerOptions,
  onEvent: (event: Event) => void,
): Server {
  const { agent, agents, store, project, policy, log, config, data, home } = workspace;
  const onFound = (left: readonly RunInfo[]) => {
    const line = formatOrphanedRuns(left, agents);
    if (line !== undefined) io.stderr.write(`${line}\n`);
  };
  const { hosts, origins, quotas, rateLimits, maxRuns, leaseMs, load } = config.server ?? {};
  const { policyLimits, settingsLimits, retention, clientProvenance } = config.server ?? {};
  const apiKey = io.env.CAPSTAN_API_KEY || config.server?.apiKey;
  return createServer({
    // The first agent is the default.
    agents: [agent, ...agents.filter(({ name }) => name !== agent.name)],
    ...{ store: withOwnOrphans(store, { folder: project, onFound }), policy },
    ...(apiKey !== undefined && { apiKey, secrets: [apiKey] }),
    ...(config.models && { models: config.models }),
    localModels: apiKey === undefined,
    ...(config.about && { about: config.about }),
    ...(config.eventViews && { eventViews: config.eventViews }),
    ...(config.webhooks && { webhooks: config.webhooks }),
    storedAgents: { ...getAgentParts(workspace), ...config.storedAgents },
    ...(mcp && { mcp }),
    ...(mcpSettings && { mcpSettings }),
    engine: engine.create,
    ...(data && { data, dataPaths: isLocal?.(config) ?? false }),
    ...(studio !== undefined && { studio: { folder: studio } }),
    widgets,
    ...(hosts && { hosts }),
    ...(origins && { origins }),
    ...(quotas && { quotas }),
    ...(rateLimits && { rateLimits }),
    ...(maxRuns !== undefined && { maxRuns }),
    ...(leaseMs !== undefined && { leaseMs }),
    ...(load && { load }),
    ...(policyLimits && { policyLimits }),
    ...(settingsLimits && { settingsLimits }),
    ...(retention && { retention }),
    ...(clientProvenance && { clientProvenance }),
    ...openLogs({ ...config.server, ...flags }, io),
    onEvent(event, { isStored }) {
      onEvent(event);
      if (isStored) log(event);
    },
    onError: createErrorLog(home, io),
  });
}

function openLogs({ log, sseLog }: LogFlags, io: Io): Pick<ServerOptions, "onRequest" | "sseLog"> {
  const writeRequest =
    log !== undefined && openLineLog({ target: log, stream: "stdout", setting: "--log" }, io);
  const setting = "--sse-log or `server.sseLog`";
  const writeEvent = sseLog !== undefined && openLineLog({ target: sseLog, stream: "stderr", setting }, io);
  // Models and tools wrote the contents, so a terminal gets no control characters of theirs.
  const formatEvent = sseLog === true ? escapeInvisible : String;
  return {
    ...(writeRequest && { onRequest: (entry) => writeRequest(JSON.stringify(entry)) }),
    ...(writeEvent && { sseLog: (line) => writeEvent(formatEvent(line)) }),
  };
}

/** Defaults for stored agents: the tools and models that the configured agents use. */
export function getAgentParts({
  agent,
  agents,
  mcp,
  config,
}: Pick<Workspace, "agent" | "agents" | "mcp" | "config">): NonNullable<Config["storedAgents"]> {
  const tools = new Map<string, Tool>();
  for (const tool of [...agents.flatMap(getCurrentTools), ...(mcp?.tools ?? [])])
    if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return { tools: [...tools.values()], models: [agent.models.main[0], ...(config.models ?? [])] };
}

/** Returns the agent's tools, resolving dynamic ones. */
function getCurrentTools({ tools, toolSource }: Agent): readonly Tool[] {
  try {
    return toolSource?.() ?? [...tools.values()];
  } catch {
    return []; // the run that needs them reports why
  }
}

type ActivityTracker = Pick<ServerInstance, "whenIdle"> & {
  onEvent(event: Event): void;
  track<Value>(work: () => Promise<Value>): Promise<Value>;
};

function trackActivity(): ActivityTracker {
  const runs = new Set<string>();
  let requests = 0;
  let waiting: (() => void)[] = [];
  const notifyWhenIdle = () => {
    if (runs.size > 0 || requests > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    onEvent({ type, runId, parentRunId }) {
      if (parentRunId !== undefined) return;
      if (type === "done" || type === "waiting") runs.delete(runId);
      else runs.add(runId);
      notifyWhenIdle();
    },
    async track(work) {
      requests += 1;
      try {
        return await work();
      } finally {
        requests -= 1;
        notifyWhenIdle();
      }
    },
    whenIdle: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        notifyWhenIdle();
      }),
  };
}
