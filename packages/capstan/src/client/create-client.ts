import type { Clock } from "../base/clock.ts";
import type { Agent } from "../kernel/agent.ts";
import { type AgentsClient, createAgentsClient } from "./agents-client.ts";
import { createConnection } from "./connection.ts";
import { createDataClient, type DataClient } from "./data-client.ts";
import { createEnvironment, type Fetch } from "./environment.ts";
import { createRunListClient, type RunListClient } from "./run-list-client.ts";
import { createRunsClient, type RunsClient } from "./runs-client.ts";
import { createServerClient, type ServerClient } from "./server-client.ts";
import { createSessionsClient, type SessionsClient } from "./sessions-client.ts";
import { type SessionWatch, type WatchOptions, watchSession } from "./watch-session.ts";

/** Options for `createClient`. */
export type ClientOptions = {
  /** For example `http://127.0.0.1:4680`. Optional on a page served by the server itself. */
  readonly baseURL?: string;
  /** Sent as `Authorization: Bearer`. Browser pages sign in instead. */
  readonly key?: string;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  /** Timeout for one attempt, 30,000 by default. Does not apply to event streams. */
  readonly timeoutMs?: number;
  /** How often a request is retried when that is safe, 4 by default. */
  readonly retries?: number;
};

/** Health of a server. */
export type Health = { readonly status: "ok" | "draining" };

/** Client of a server. Failures reject with an `AgentError`: the server's own, or `server_unreachable`. */
export interface Client<A extends Agent = Agent> extends ServerClient, RunListClient {
  readonly agents: AgentsClient;
  /** Own data that the apps of the server are opened on. */
  readonly data: DataClient;
  readonly sessions: SessionsClient;
  readonly runs: RunsClient<A>;
  /** Keeps a live view of a session for a user interface. Close it when the session is no longer shown. */
  watch(sessionId: string, options?: WatchOptions): SessionWatch;
  health(): Promise<Health>;
  /** Exchanges a key or a one-time code for a session cookie, so that no page has to store it. */
  signIn(credentials: { readonly key: string } | { readonly code: string }): Promise<void>;
  signOut(): Promise<void>;
}

/**
 * Creates a client. Sends nothing until a method is called. The types of the server's agents, as in
 * `createClient<typeof agents>()`, type the outputs and the calls of its runs.
 */
export function createClient<Agents extends Agent | readonly Agent[] = Agent>(
  options?: ClientOptions,
): Client<Agents extends readonly (infer Member extends Agent)[] ? Member : Extract<Agents, Agent>>;
export function createClient(options: ClientOptions = {}): Client {
  const environment = createEnvironment(options);
  const server = createConnection(options, environment);
  const sessions = createSessionsClient(server, environment);
  const runs = createRunsClient(server, environment);
  return {
    ...createServerClient(server),
    ...createRunListClient(server),
    agents: createAgentsClient(server),
    data: createDataClient(server),
    sessions,
    runs,
    watch: (sessionId, watchOptions) =>
      watchSession({ ...watchOptions, sessionId, runs, sessions, environment }),
    health: () => server.request({ method: "GET", path: "/api/health", acceptedStatuses: [503] }),
    async signIn(credentials) {
      await server.request({ method: "POST", path: "/api/sign-in", body: credentials });
    },
    async signOut() {
      await server.request({ method: "POST", path: "/api/sign-out", body: {}, isIdempotent: true });
    },
  };
}
