import { randomUUID } from "node:crypto";
import type { McpTools } from "@capstan/mcp";
import {
  type Agent,
  AgentError,
  type ContextSource,
  type Event,
  type Model,
  type PolicyOverrides,
  type Store,
} from "capstan";
import {
  checkSettingsLimits,
  type PolicyLimits,
  resolvePolicyLimits,
  type SettingsLimits,
  type StoredAgentsOptions,
} from "capstan/agents";
import { type LocalEngine, type LocalOptions, local } from "capstan/engines/local";
import { getScope, loadRequests } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { createAdmission, type LoadLimits } from "./access/admission.ts";
import { type ApiKeys, apiKeys } from "./access/api-keys.ts";
import { createAuthenticator, createQuotaSource } from "./access/authenticate.ts";
import type { Caller } from "./access/caller.ts";
import { checkInstructions } from "./access/check-instructions.ts";
import { createQuota } from "./access/quota.ts";
import { createQuotaAdmission } from "./access/quota-admission.ts";
import type { QuotaSettings } from "./access/quotas.ts";
import { createModelLimits, type ProviderRateLimits } from "./access/rate-limits.ts";
import { createSignIns } from "./access/sign-ins.ts";
import type { Deployment } from "./deployment.ts";
import { createRouter, dispatch } from "./dispatch.ts";
import type { EventViews } from "./event-views/event-view.ts";
import { addViews } from "./event-views/find-view.ts";
import { createExperiments, startExperimentRecovery } from "./experiments/experiments.ts";
import { withBasePath } from "./http/base-path.ts";
import { createCors } from "./http/cors.ts";
import { createGuard, type GuardOptions } from "./http/guard.ts";
import { withSecurityHeaders } from "./http/security-headers.ts";
import { loadStaticFiles } from "./http/static-files.ts";
import type { McpSettings } from "./mcp-settings.ts";
import type { OwnData } from "./own-data/own-data.ts";
import { withApiErrors } from "./protocols/api-errors.ts";
import { chatView } from "./protocols/chat/chat-events.ts";
import type { ClientProvenance } from "./protocols/client-entry.ts";
import { createFailureLog } from "./protocols/failure-log.ts";
import { withHiddenInternals } from "./protocols/hide-errors.ts";
import { mountMcp } from "./protocols/mount-mcp.ts";
import { routes } from "./routes/all-routes.ts";
import type { Route } from "./routes/route.ts";
import { trackActiveRuns } from "./runs/active-runs.ts";
import { createAgentSource } from "./runs/agent-source.ts";
import { createEphemeralRuns } from "./runs/ephemeral-runs.ts";
import { createScheduleParts } from "./runs/start-scheduled-run.ts";
import { type Retention, startRetention } from "./sessions/retention.ts";
import { createMetrics, createToolMatcher } from "./telemetry/metrics.ts";
import { createRequestLog, type RequestLogEntry } from "./telemetry/request-log.ts";
import { createRunFigures } from "./telemetry/run-figures.ts";
import { buildAgentParts } from "./views/agent-parts.ts";
import { createMcpCalls } from "./views/mcp-server-view.ts";
import type { AgentProfiles } from "./views/server-info.ts";
import { type Deliverer, startDeliverer } from "./webhooks/deliverer.ts";
import { configureWebhooks, listWebhookSecrets, type Webhooks } from "./webhooks/webhook.ts";

export type ServerOptions<A extends Agent = Agent> = BaseOptions<A> & ContextSource<A, RunOwner>;

type BaseOptions<A> = GuardOptions & {
  /** The first agent answers requests that name none. */
  readonly agents: readonly A[];
  /** Defaults to a store in the memory of this process. */
  readonly store?: Store;
  /** Key of the local user. Once it is set, every request must send a key. Create more keys with `keys.create`. */
  readonly apiKey?: string;
  /** Tools, models and limits for stored agents. Without it, stored agents have no tools. */
  readonly storedAgents?: Omit<StoredAgentsOptions, "store" | "coded">;
  /** Models that a request may choose with `model`. Without it, each agent uses its own. */
  readonly models?: readonly (string | Model)[];
  /**
   * Requests may also choose models on this machine: of Ollama, LM Studio, llama.cpp and vLLM servers, and downloaded
   * ones. They are looked for when a client lists the models. Default: false.
   */
  readonly localModels?: boolean;
  /** Titles, descriptions and suggestions for the user interface, by agent name. */
  readonly about?: AgentProfiles;
  /** The events of a run in an application's own vocabulary: clients request a view with `?events=<name>`. */
  readonly eventViews?: EventViews;
  /**
   * Own data that users open the apps on, from `openOwnData` with the same store. All users see its agents; admins add
   * and remove it. The server loads what is remembered, and does not close it.
   */
  readonly data?: OwnData;
  /** Whether admins may add files and folders of this machine by their path: they can then read any file. Default: false. */
  readonly dataPaths?: boolean;
  /** The MCP servers whose tools the agents use. The server does not close them. */
  readonly mcp?: McpTools;
  /** Lets admins add, remove and sign in to MCP servers. */
  readonly mcpSettings?: McpSettings;
  /** Applies to every run. */
  readonly policy?: PolicyOverrides;
  /** Upper bounds for the policy of a request. */
  readonly policyLimits?: PolicyLimits;
  /** The most that a request may ask of a model: `effort` and `maxOutputTokens`. */
  readonly settingsLimits?: SettingsLimits;
  /** Quotas of all users and of single ones. Quotas that an admin or `capstan quotas` stores override them. */
  readonly quotas?: QuotaSettings;
  /** Requests and tokens per provider, in all processes on the store: `{ openai: { requests: { minute: 500 } } }`. */
  readonly rateLimits?: ProviderRateLimits;
  /** Removes old or large sessions in the background. Without it, sessions are kept. */
  readonly retention?: Retention;
  /**
   * Creates the engine that executes the runs, such as `(parts) => local({ ...parts, work: false })` next to workers, or
   * `(parts) => restate({ ...parts, … })`. The server closes it. Defaults to `local`.
   */
  readonly engine?: CreateEngine;
  /** Max number of active runs in this process; further runs are refused. Defaults to 500. */
  readonly maxRuns?: number;
  /** Further limits of this process, beyond which new work is refused. */
  readonly load?: LoadLimits;
  /** Another process may take over a run whose lease was not renewed for this long. Defaults to 15 seconds. */
  readonly leaseMs?: number;
  /** Share of the heap in use, 0 to 1. New work is refused when the heap is nearly full. */
  readonly memoryInUse?: () => number;
  /** Path under which the server is mounted, such as `/agents`: removed from requests, and added to links. */
  readonly basePath?: string;
  /** Folder with the files of a user interface, served at `/`. */
  readonly studio?: { readonly folder: string };
  /** The page that shows widgets in other MCP hosts: see `serveMcp`. */
  readonly widgets?: string | undefined;
  /**
   * Who answers for text that client applications add to the user's: context, page state, system messages and a history
   * that the client keeps. Default: `application`, which labels the conversation untrusted and private. Use `operator` if
   * all clients are yours and add nothing that others wrote.
   */
  readonly clientProvenance?: ClientProvenance;
  /** Signed requests that start runs, by their name in `POST /webhooks/{name}`, and where the results are sent. */
  readonly webhooks?: Webhooks;
  /** Masked in everything that leaves a run. */
  readonly secrets?: readonly string[];
  /**
   * Receives every event of every run in this process, for logging. `isStored` is false for a run whose history only its
   * client keeps: nothing deletes what a log keeps of it.
   */
  readonly onEvent?: (event: Event, run: { readonly isStored: boolean }) => void;
  /** Receives one entry per handled request, without contents, for an access log. */
  readonly onRequest?: (entry: RequestLogEntry) => void;
  /** Debug log: receives one line per event that a chat, a run or a session sends to a client, with its contents. */
  readonly sseLog?: (line: string) => void;
  /**
   * Receives internal errors, with the id that was returned to the client, and what tools and models throw: the `cause` has
   * the stack. No client and no model gets a stack.
   */
  readonly onError?: (error: unknown, id: string) => void;
};

/** What the server passes to its engine. */
export type EngineParts = Required<
  Pick<
    LocalOptions,
    | "store"
    | "agents"
    | "maxRuns"
    | "leaseMs"
    | "onRunStart"
    | "onRunEnd"
    | "getResumeOptions"
    | "startScheduled"
    | "onMissed"
  >
>;
export type CreateEngine = (parts: EngineParts) => LocalEngine;

/** The user and the session of a run. */
export type RunOwner = { readonly user: string; readonly sessionId: string };

/** A server without a listener: pass requests to `fetch`. */
export interface Server {
  /**
   * `arrivedAt` lists the names of this machine on the socket that received the request; they are valid hosts. Anything
   * else that a framework passes to its handlers is ignored.
   */
  fetch(request: Request, arrivedAt?: unknown): Promise<Response>;
  readonly keys: ApiKeys;
  /** Returns a code that signs a browser in as this user (default: the local user). Works once, within two minutes. */
  oneTimeCode(user?: string): string;
  readonly routes: readonly Route[];
  /**
   * Refuses new work, closes event streams, and releases active runs after their current step, waiting up to
   * `timeoutMs` (25 s). Does not close the store.
   */
  close(timeoutMs?: number): Promise<void>;
}

/** Creates a server for agents and a store. Throws `invalid_definition` without an agent. */
export function createServer<A extends Agent>(options: ServerOptions<A>): Server;
export function createServer(options: ServerOptions): Server {
  const { agents: coded, store = memory() } = options;
  if (coded.length === 0) throw new AgentError("invalid_definition", "A server needs at least one agent.");
  const keys = apiKeys(store, { own: options.apiKey });
  const shutdown = new AbortController();
  const deployment = createDeployment(options, { store, keys, shutdownSignal: shutdown.signal });
  const { report, admission, deliverer } = deployment;
  // Subscribes to other processes' deltas, so that a reader who joins in the middle of a message gets the whole message.
  const unwatch = store.watch("", () => undefined);
  const authenticate = createAuthenticator(deployment);
  let userDeployment: Deployment | undefined;
  function getDeployment({ isAdmin }: Caller): Deployment {
    if (isAdmin) return deployment;
    userDeployment ??= withHiddenInternals(deployment);
    return userDeployment;
  }
  const assertAllowed = createGuard(options);
  const cors = options.origins?.length ? createCors(options.origins) : undefined;
  const route = createRouter({
    routes,
    handle(matched, input) {
      deployment.requestLog?.note({ route: matched.path });
      return dispatch(matched, input, { ...deployment, getDeployment, authenticate });
    },
    files: options.studio && loadStaticFiles(options.studio.folder),
    report,
  });
  const answer = withApiErrors(
    withSecurityHeaders(
      async (request, arrivedAt) => {
        assertAllowed(request, arrivedAt);
        return cors?.answerPreflight(request) ?? route(request);
      },
      { cors, report },
    ),
  );
  async function fetchInTurn(request: Request, arrivedAt?: readonly string[]): Promise<Response> {
    const turn = admission.waitForTurn(request);
    if (turn) await turn;
    return answer(request, arrivedAt);
  }
  const logged = deployment.requestLog?.wrap(fetchInTurn) ?? fetchInTurn;
  const { basePath } = deployment;
  const fetch = basePath === "" ? logged : withBasePath(logged, basePath);
  for (const warning of checkInstructions(coded)) report(warning);
  if (options.retention) startRetention(deployment, options.retention);
  startExperimentRecovery(deployment);
  const unwatchData = options.data && serveOwnData(options.data, deployment);
  return {
    routes,
    keys,
    oneTimeCode: deployment.signIns.createCode,
    fetch: (request, arrivedAt) => fetch(request, Array.isArray(arrivedAt) ? arrivedAt : []),
    async close(timeoutMs = 25_000) {
      shutdown.abort();
      const timeout = new Promise((resolve) => setTimeout(resolve, timeoutMs).unref());
      const { engine, ephemeralRuns, experiments, mcpService, quotaAdmission, modelLimits } = deployment;
      const closing = [engine.close(), ephemeralRuns.close(timeout), experiments.close(), deliverer?.close()];
      await Promise.race([Promise.all(closing), timeout]);
      await mcpService.close();
      admission.close();
      await Promise.race([
        Promise.all([quotaAdmission.close(), modelLimits?.close().catch(report)]),
        timeout,
      ]);
      unwatch();
      unwatchData?.();
    },
  };
}

/** Loads own data, and resumes the runs that wait for it. */
function serveOwnData(data: OwnData, { engine }: Deployment): () => void {
  const unwatch = data.onChange(({ state }) => {
    // The engine tries again by itself if this fails.
    if (state.type === "ready") engine.recover().catch(() => undefined);
  });
  data.start();
  return unwatch;
}

type DeploymentBase = Pick<Deployment, "store" | "shutdownSignal"> & { readonly keys: ApiKeys };

type ServerParts = Deployment & { readonly deliverer: Deliverer | undefined };

function createDeployment(options: ServerOptions, base: DeploymentBase): ServerParts {
  const { store, keys, shutdownSignal } = base;
  const { agents: coded, policy, context = (owner: RunOwner) => owner, apiKey, webhooks = {} } = options;
  const { maxRuns = defaultMaxRuns, leaseMs = 15_000 } = options;
  const secrets = [options.secrets ?? [], apiKey ?? [], listWebhookSecrets(webhooks)].flat();
  const { agents, ownData, models, resolver } = createAgentSource({ ...options, store });
  const tracking = createUsageTracking(options, store);
  const { agentParts, quota, activeRuns, admission, metrics, modelLimits } = tracking;
  const report = createReporter(options.onError);
  const failureLog = createFailureLog(report);
  const requestLog = options.onRequest && createRequestLog(options.onRequest, report);
  const mcpCalls = createMcpCalls(() => (options.mcp?.status() ?? []).map(({ name }) => name));

  function onEvent(event: Event, isStored = true): void {
    quotaAdmission.record(event);
    failureLog.onEvent(event);
    if (options.mcp) mcpCalls.record(event);
    metrics.record(event);
    requestLog?.note({ runId: event.runId });
    if (event.type === "done" || event.type === "waiting") deliverer?.wake(event.runId);
    options.onEvent?.(event, { isStored });
  }
  const { onError } = failureLog;
  const hooks = { onEvent, onError, ...(modelLimits && { onBeforeModel: modelLimits.limitModel }) };
  const getRunOptions: Deployment["getRunOptions"] = async ({ scope, sessionId, isStored }) => ({
    context: await context({ user: scope, sessionId }),
    ...{ secrets, hooks: { ...hooks, onEvent: (event) => onEvent(event, isStored) } },
  });
  const quotaAdmission = createQuotaAdmission({ store, getResult: (id) => engine.getResult(id), report });
  const limits = { policy, quota, quotaAdmission };
  const mcpParts = { ...limits, store, widgets: options.widgets, onRunError: onError };
  const engine = (options.engine ?? (local as CreateEngine))({
    store,
    agents: resolver.find,
    maxRuns,
    leaseMs,
    ...activeRuns.callbacks,
    getResumeOptions({ sessionId }) {
      activeRuns.markStarted(sessionId);
      return getRunOptions({ scope: getScope(sessionId), sessionId });
    },
    ...createScheduleParts(() => deployment),
  });
  const configured = configureWebhooks(webhooks);
  const deliverer = startDeliverer({ store, engine, webhooks: configured, report, shutdownSignal });
  const deployment: ServerParts = {
    ...{ ...limits, modelLimits, keys, webhooks: configured, deliverer },
    ...{ quotas: createQuotaSource(store, options.quotas), drain: { isOn: false } },
    ...{ engine, store, leaseMs, activeRuns, agents, ownData },
    resolveAgent: (name = coded[0]?.name ?? "", model) => resolver.get(name, model),
    ...{ findAgent: resolver.find, loadRequests: (turn) => loadRequests(store, turn) },
    agentProfiles: options.about ?? {},
    eventViews: options.eventViews ? addViews({ chat: chatView }, options.eventViews) : { chat: chatView },
    clientProvenance: options.clientProvenance ?? "application",
    mcpTools: options.mcp,
    mcpSettings: options.mcpSettings ?? {},
    ...{ agentParts, mcpCalls, models, admission },
    policyLimits: resolvePolicyLimits(options.policyLimits),
    settingsLimits: options.settingsLimits ? checkSettingsLimits(options.settingsLimits) : {},
    experiments: createExperiments({ ...limits, store, agents, getRunOptions, report, resolver }),
    ephemeralRuns: createEphemeralRuns({ ...limits, getRunOptions }),
    mcpService: mountMcp({ ...mcpParts, ...hooks, agents: coded, context, secrets, onError: report }),
    ...{ basePath: options.basePath ?? "", sseLog: options.sseLog },
    signIns: createSignIns(store, { keys }),
    ...{ metrics, requestLog, shutdownSignal, getRunOptions, report },
  };
  return deployment;
}

const defaultMaxRuns = 500;

/** Creates the counters of runs, streams and requests, what they limit, and the metrics that report them. */
function createUsageTracking(options: ServerOptions, store: Store) {
  const { agents, storedAgents: storedOptions, maxRuns = defaultMaxRuns, load, memoryInUse } = options;
  const quota = createQuota();
  const agentParts = buildAgentParts(storedOptions);
  const gauges = {
    countStreams: () => quota.getTotal("streams"),
    countRuns: () => quota.getTotal("runs"),
  };
  const admission = createAdmission({ ...load, ...gauges, maxRuns, measureMemory: memoryInUse });
  const toolNames = agentParts.tools.map(({ name }) => name);
  const metrics = createMetrics(
    { ...gauges, getLoad: admission.getFigures, readRunFigures: createRunFigures(store) },
    createToolMatcher(agents, toolNames),
  );
  return {
    ...{ agentParts, quota, admission, metrics },
    activeRuns: trackActiveRuns(quota, metrics.recordSegment),
    modelLimits: options.rateLimits && createModelLimits(store, options.rateLimits),
  };
}

/** Reports an error to the operator's log and returns the id it is logged under. */
function createReporter(onError: ServerOptions["onError"]): (thrown: unknown, id?: string) => string {
  return (thrown, id = `err_${randomUUID()}`) => {
    try {
      onError?.(thrown, id);
    } catch {
      // A failing logger must not change the response.
    }
    return id;
  };
}
