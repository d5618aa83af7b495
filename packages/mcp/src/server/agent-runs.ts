import type { ServerContext } from "@modelcontextprotocol/server";
import {
  type Agent,
  AgentError,
  type ErrorSource,
  type Event,
  type Model,
  type PendingCall,
  type PolicyOverrides,
  type ResumeOptions,
  type Run,
  resume,
  run,
  type Store,
} from "capstan";
import type { ProgressReporter } from "./progress-reporter.ts";
import { createSessionId, type SessionKeys } from "./session-keys.ts";

/** The default `context` of a run: everything that tools and instructions learn about the caller. */
export type RunCaller = { readonly user?: string; readonly sessionId: string };

/** Returns the policy of a new run of a user. */
export type RunPolicy = (
  user: string | undefined,
  run: { readonly runId: string; readonly sessionId: string },
) => PolicyOverrides | Promise<PolicyOverrides>;

/** Shared by all runs of one client. */
export type RunContext = {
  readonly agents: readonly Agent[];
  readonly store: Store;
  readonly user: string | undefined;
  readonly keys: SessionKeys;
  readonly policy: PolicyOverrides | RunPolicy | undefined;
  readonly secrets?: readonly string[];
  context(caller: RunCaller): unknown;
  onEvent?(event: Event): void;
  onBeforeModel?(model: Model): Model | undefined;
  onRunError?(error: unknown, source: ErrorSource): void;
};

export type QueryInput = { readonly prompt: string; readonly sessionId?: string };

/** One request of a client. */
export type Exchange = {
  readonly ctx: ServerContext;
  readonly progress: ProgressReporter;
  /** Aborted when the client gives up, but not after the response, which may be that the run waits. */
  readonly signal: AbortSignal;
};

/** Wrapped in an object, because awaiting a `Run` waits for its end. */
export type OpenedRun = { readonly handle: Run; readonly pending: readonly PendingCall[] };

/** The runs of one client, in the sessions of its user. */
export interface AgentRuns {
  start(agent: Agent, input: QueryInput, exchange: Exchange): Promise<OpenedRun>;
  /** Resumes a waiting run. Throws `unknown_run` for a run of another user. */
  reopen(runId: string, exchange: Exchange): Promise<OpenedRun>;
}

export function createAgentRuns(runContext: RunContext): AgentRuns {
  const { agents, store, user, keys, policy, context } = runContext;
  async function buildOptions(sessionId: string, { progress, signal }: Exchange): Promise<ResumeOptions> {
    return {
      context: await context({ sessionId, ...(user !== undefined && { user }) }),
      signal,
      ...(runContext.secrets && { secrets: runContext.secrets }),
      hooks: {
        ...(runContext.onBeforeModel && { onBeforeModel: runContext.onBeforeModel }),
        ...(runContext.onRunError && { onError: runContext.onRunError }),
        onEvent(event) {
          progress.onEvent(event);
          runContext.onEvent?.(event);
        },
      },
    };
  }

  return {
    async start(agent, { prompt, sessionId = createSessionId() }, exchange) {
      const session = keys.toKey(sessionId);
      const options = await buildOptions(sessionId, exchange);
      const runId = `run_${crypto.randomUUID()}`;
      const policyOverrides =
        typeof policy === "function" ? await policy(user, { runId, sessionId: session }) : policy;
      const handle = run(agent, prompt, {
        ...options,
        store,
        session,
        runId,
        ...(policyOverrides && { policy: policyOverrides }),
      });
      return { handle, pending: [] };
    },
    async reopen(runId, exchange) {
      const key = await store.findSession(runId);
      const sessionId = key === undefined ? undefined : keys.toId(key);
      if (sessionId === undefined) throw new AgentError("unknown_run", `Unknown run "${runId}".`);
      const handle = resume(agents, { store, runId }, await buildOptions(sessionId, exchange));
      const { pending } = await handle;
      return { handle, pending };
    },
  };
}
