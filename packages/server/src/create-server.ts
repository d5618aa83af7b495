import { randomUUID } from "node:crypto";
import type { McpTools } from "@capstan/mcp";
import { type Agent, AgentError, type Event, type Model, type PolicyOverrides, type Store } from "capstan";
import {
  type PolicyLimits,
  resolvePolicyLimits,
  type StoredAgentsOptions,
  storedAgents,
} from "capstan/agents";
import { local } from "capstan/engines/local";
import { getScope } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { type ApiKeys, apiKeys } from "./access/api-keys.ts";
import { authenticate } from "./access/authenticate.ts";
import type { UserLimits } from "./access/caller.ts";
import { instructionWarnings } from "./access/check-instructions.ts";
import { spending } from "./access/daily-budget.ts";
import { allowance, room } from "./access/quota.ts";
import { signIns } from "./access/sign-ins.ts";
import type { Deployment } from "./deployment.ts";
import { application, dispatch } from "./dispatch.ts";
import { cors } from "./http/cors.ts";
import { type GuardOptions, guard } from "./http/guard.ts";
import { hardened } from "./http/security-headers.ts";
import { staticFiles } from "./http/static-files.ts";
import { failureId, failureIn } from "./protocols/client-error.ts";
import { mountedMcp } from "./protocols/mount-mcp.ts";
import { withOpenaiProblems } from "./protocols/openai-error.ts";
import { routes } from "./routes/all-routes.ts";
import type { Route } from "./routes/route.ts";
import { runsAtWork } from "./runs/active-runs.ts";
import { agentFinder, modelChoices, withToolsets } from "./runs/agent-resolver.ts";
import { passing } from "./runs/ephemeral-runs.ts";
import { metrics, ownTools } from "./telemetry/metrics.ts";
import { agentParts } from "./views/agent-parts.ts";
import { mcpCalls } from "./views/mcp-server-view.ts";
import type { AgentProfiles } from "./views/server-info.ts";

export type ServerOptions = GuardOptions & {
  /** The first one answers when a request names none. */
  readonly agents: readonly Agent[];
  /** Where everything is kept; by default in the memory of this process. */
  readonly store?: Store;
  /** What every request must present, as the key of the local user. Others are made with `keys.create`. */
  readonly apiKey?: string;
  /** What stored agents may be made of; left out, they can name no tools. */
  readonly storedAgents?: Omit<StoredAgentsOptions, "store" | "coded">;
  /** What a request may choose as `model`; left out, nothing but each agent's own. */
  readonly models?: readonly (string | Model)[];
  /** How agents are shown to people: by name. */
  readonly about?: AgentProfiles;
  /** The MCP servers whose tools the agents use, to be looked after by people. Whoever has started them ends them. */
  readonly mcp?: McpTools;
  /** For every run. */
  readonly policy?: PolicyOverrides;
  /** The loosest policy that a request may ask for. */
  readonly policyLimits?: PolicyLimits;
  /** Of each user; a key may have others. */
  readonly limits?: Partial<UserLimits>;
  /** So many runs at work in this process; more are refused until others have ended. 500 when left out. */
  readonly maxRuns?: number;
  /** After so long without a sign of life another process may go on with a run; 15 seconds when left out. */
  readonly leaseMs?: number;
  /** The share of the memory for objects that is in use, 0 to 1: new work is refused when it is nearly full. */
  readonly memoryInUse?: () => number;
  /** The folder with the files of a user interface, which is served at `/`. */
  readonly studio?: { readonly folder: string };
  /** What tools and instructions are given as `context`; by default the caller. */
  readonly context?: (caller: RunOwner) => unknown;
  /** Masked in all that leaves a run. */
  readonly secrets?: readonly string[];
  /** Sees every event of every run here: for logs. */
  readonly onEvent?: (event: Event) => void;
  /** The debug log of `POST /api/chat`: a line for each event that is sent. */
  readonly sseLog?: (line: string) => void;
  /** Told what went wrong inside, with the id that the client was given. */
  readonly onError?: (error: unknown, id: string) => void;
};

/** Who a run is for. */
export type RunOwner = { readonly user: string; readonly sessionId: string };

/** A server without a listener: requests come in by `fetch`. */
export interface Server {
  /** `arrivedAt` is what this machine is called where the request came in: it may have that as its Host. */
  fetch(request: Request, arrivedAt?: readonly string[]): Promise<Response>;
  readonly keys: ApiKeys;
  /** A code that signs a browser in as this user, or as the local one; once, and within two minutes. */
  oneTimeCode(user?: string): string;
  /** Everything that can be asked of it. */
  readonly routes: readonly Route[];
  /** Takes no new work, tells its streams, puts runs down after what is under way (25 s at most); the store stays open. */
  close(patienceMs?: number): Promise<void>;
}

/** Makes a server of agents and a store. */
export function createServer(options: ServerOptions): Server {
  const { agents: coded, store = memory() } = options;
  if (coded.length === 0) throw new AgentError("invalid_definition", "A server needs at least one agent.");
  const keys = apiKeys(store, { own: options.apiKey });
  const leaving = new AbortController();
  const deployment = deploy(options, { store, keys, leaving: leaving.signal });
  const { report } = deployment;
  // What other processes say is heard from now on: whoever asks in the middle of a message is told what was said so far.
  const unwatch = store.watch("", () => undefined);
  const caller = authenticate({ keys, signIns: deployment.signIns, limits: options.limits });
  const assertAllowed = guard(options);
  const shared = cors(options.origins);
  const app = application({
    routes,
    answer: (route, asked) => dispatch(route, asked, { deployment, authenticate: caller }),
    files: options.studio && staticFiles(options.studio.folder),
    report,
  });
  for (const warning of instructionWarnings(coded)) report(warning);
  return {
    routes,
    keys,
    oneTimeCode: deployment.signIns.oneTimeCode,
    fetch: withOpenaiProblems(
      hardened(
        async (request, arrivedAt) => {
          assertAllowed(request, arrivedAt);
          return shared.preflight(request) ?? app(request);
        },
        { cors: shared, report },
      ),
    ),
    async close(patienceMs = 25_000) {
      leaving.abort();
      const patience = new Promise((resolve) => setTimeout(resolve, patienceMs).unref());
      const { engine, passing, mcp } = deployment;
      await Promise.race([Promise.all([engine.close(), passing.close(patience)]), patience]);
      await mcp.close();
      unwatch();
    },
  };
}

type Ground = { readonly store: Store; readonly keys: ApiKeys; readonly leaving: AbortSignal };

function deploy(options: ServerOptions, { store, keys, leaving }: Ground): Deployment {
  const { agents: coded, policy, context = (of: RunOwner) => of, maxRuns = 500, apiKey } = options;
  const secrets = [...(options.secrets ?? []), ...(apiKey === undefined ? [] : [apiKey])];
  const agents = storedAgents({ ...options.storedAgents, store, coded });
  const models = modelChoices(options.models ?? []);
  const finder = withToolsets(agentFinder(agents, models), store);
  const spent = spending(store);
  const { parts, owner, allowed, atWork, counts } = counting(options, store);
  const report = reporter(options.onError);
  const calls = mcpCalls(() => (options.mcp?.status() ?? []).map(({ name }) => name));

  function onEvent(event: Event): void {
    if (event.type === "done" && event.parentRunId === undefined)
      spent
        .add(getScope(event.sessionId), { ...event.usage, cost: event.cost })
        .catch((thrown) => report(thrown));
    const failure = failureIn(event);
    if (failure) report(failure, failureId(event.runId));
    calls.hear(event);
    counts.hear(event);
    options.onEvent?.(event);
  }
  const optionsFor: Deployment["optionsFor"] = async ({ scope, sessionId }) => ({
    context: await context({ user: scope, sessionId }),
    secrets,
    hooks: { onEvent },
  });
  const counted = { policy, allowance: allowed, spending: spent };
  return {
    ...counted,
    store,
    atWork,
    engine: local({
      store: atWork.store,
      owner,
      agents: finder.find,
      maxRuns,
      ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
      getResumeOptions({ sessionId }) {
        atWork.takenUp(sessionId);
        return optionsFor({ scope: getScope(sessionId), sessionId });
      },
    }),
    agents,
    agent: (name = coded[0]?.name ?? "", model) => finder.get(name, model),
    findAgent: finder.find,
    introductions: options.about ?? {},
    agentParts: parts,
    mcpTools: options.mcp,
    mcpCalls: calls,
    models,
    policyLimits: resolvePolicyLimits(options.policyLimits),
    assertRoom: room({ maxRuns, runs: () => allowed.taken("runs"), memory: options.memoryInUse }),
    passing: passing({ ...counted, optionsFor }),
    mcp: mountedMcp({ ...counted, agents: coded, store, context, secrets, onEvent, onError: report }),
    sseLog: options.sseLog,
    signIns: signIns(store, { keys }),
    metrics: counts,
    leaving,
    optionsFor,
    report,
  };
}

/** What users have at this moment, and what of it is told in figures. */
function counting({ agents, storedAgents: given }: ServerOptions, store: Store) {
  const allowed = allowance();
  const owner = `server_${randomUUID()}`;
  const parts = agentParts(given);
  const gauges = {
    openStreams: () => allowed.taken("streams"),
    runsAtWork: () => allowed.taken("runs"),
  };
  const names = parts.tools.map(({ name }) => name);
  return {
    ...{ parts, owner, allowed },
    atWork: runsAtWork(store, { owner, allowance: allowed }),
    counts: metrics(gauges, ownTools(agents, names)),
  };
}

/** For the log of whoever runs the server. Gives the id that it is told under. */
function reporter(onError: ServerOptions["onError"]): (thrown: unknown, id?: string) => string {
  return (thrown, id = `err_${randomUUID()}`) => {
    try {
      onError?.(thrown, id);
    } catch {
      // A log that fails must not change what the client is told.
    }
    return id;
  };
}
