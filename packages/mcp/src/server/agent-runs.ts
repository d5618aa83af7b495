import type { ServerContext } from "@modelcontextprotocol/server";
import {
  type Agent,
  AgentError,
  type Event,
  type PendingCall,
  type PolicyOverrides,
  type ResumeOptions,
  type Run,
  resume,
  run,
  type Store,
} from "capstan";
import type { Progress } from "./progress.ts";
import { newSessionId, type SessionKeys } from "./session-keys.ts";

/** Who a run is for: all that tools and instructions are told of the caller, unless the application tells more. */
export type RunCaller = { readonly user?: string; readonly sessionId: string };

/** What the runs of one client share. */
export type RunSetting = {
  readonly agents: readonly Agent[];
  readonly store: Store;
  readonly user: string | undefined;
  readonly keys: SessionKeys;
  readonly policy:
    | PolicyOverrides
    | ((user: string | undefined) => PolicyOverrides | Promise<PolicyOverrides>)
    | undefined;
  readonly secrets?: readonly string[];
  context(caller: RunCaller): unknown;
  onEvent?(event: Event): void;
};

export type QueryInput = { readonly prompt: string; readonly sessionId?: string };

/** One request of a client and what it is told meanwhile. */
export type Exchange = {
  readonly ctx: ServerContext;
  readonly told: Progress;
  /** Aborted when the client gives up; not when it has its answer, which may be that the run waits. */
  readonly signal: AbortSignal;
};

/** In an object, because a run on its own is awaited to its end by whoever awaits what gives it. */
export type OpenedRun = { readonly handle: Run; readonly pending: readonly PendingCall[] };

/** The runs of one client, in sessions that are its user's. */
export interface AgentRuns {
  start(agent: Agent, input: QueryInput, exchange: Exchange): Promise<OpenedRun>;
  /** Finds a run again, by what it waits for. Throws `unknown_run` for the run of another user. */
  reopen(runId: string, exchange: Exchange): Promise<OpenedRun>;
}

export function agentRuns(setting: RunSetting): AgentRuns {
  const { agents, store, user, keys, policy, context } = setting;
  async function optionsFor(sessionId: string, { told, signal }: Exchange): Promise<ResumeOptions> {
    return {
      context: await context({ sessionId, ...(user !== undefined && { user }) }),
      signal,
      ...(setting.secrets && { secrets: setting.secrets }),
      hooks: {
        onEvent(event) {
          told.onEvent(event);
          setting.onEvent?.(event);
        },
      },
    };
  }

  return {
    async start(agent, { prompt, sessionId = newSessionId() }, exchange) {
      const session = keys.keyOf(sessionId);
      const options = await optionsFor(sessionId, exchange);
      const layer = typeof policy === "function" ? await policy(user) : policy;
      const handle = run(agent, prompt, { ...options, store, session, ...(layer && { policy: layer }) });
      return { handle, pending: [] };
    },
    async reopen(runId, exchange) {
      const key = await store.findSession(runId);
      const sessionId = key === undefined ? undefined : keys.idOf(key);
      if (sessionId === undefined) throw new AgentError("unknown_run", `There is no run "${runId}".`);
      const handle = resume(agents, { store, runId }, await optionsFor(sessionId, exchange));
      const { pending } = await handle;
      return { handle, pending };
    },
  };
}
