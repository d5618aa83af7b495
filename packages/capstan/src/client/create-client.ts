import type { Clock } from "../clock.ts";
import { type AgentsClient, agentsClient } from "./agents-client.ts";
import { connection } from "./connection.ts";
import { type RunsClient, runsClient } from "./runs-client.ts";
import { type ServerClient, serverClient } from "./server-client.ts";
import { type SessionsClient, sessionsClient } from "./sessions-client.ts";
import { type SessionWatch, watchSession } from "./watch-session.ts";
import { type Fetch, worldOf } from "./world.ts";

/** Where the server is, and how to talk to it. */
export type ClientOptions = {
  /** Such as `http://127.0.0.1:4680`; on a page that the server itself serves it can be left out. */
  readonly baseURL?: string;
  /** Sent as `Authorization: Bearer`. A page signs in instead. */
  readonly key?: string;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  /** For one try of a request; 30,000 when left out. Streams of events have no end. */
  readonly timeoutMs?: number;
  /** How often a request is sent again, when that cannot do it twice; 4 when left out. */
  readonly retries?: number;
};

/** What a server says of itself. */
export type Health = { readonly status: "ok" | "draining" };

/** A server. What fails rejects with an `AgentError`: the server's own, or `server_unreachable`. */
export interface Client extends ServerClient {
  readonly agents: AgentsClient;
  readonly sessions: SessionsClient;
  readonly runs: RunsClient;
  /** A session as it is at this moment, for a user interface. Close it when it is not shown any more. */
  watch(sessionId: string): SessionWatch;
  health(): Promise<Health>;
  /** Gives this browser a cookie for a key or a one-time code, so that no page has to keep it. */
  signIn(by: { readonly key: string } | { readonly code: string }): Promise<void>;
  signOut(): Promise<void>;
}

/** A client of the server at an address. Nothing is sent before it is asked. */
export function createClient(options: ClientOptions = {}): Client {
  const { baseURL = "", key, timeoutMs = 30_000, retries = 4 } = options;
  const world = worldOf(options);
  const server = connection({ baseURL, key, world, timeoutMs, retries });
  const sessions = sessionsClient(server, world);
  const runs = runsClient(server, world);
  return {
    ...serverClient(server),
    agents: agentsClient(server),
    sessions,
    runs,
    watch: (sessionId) => watchSession({ sessionId, runs, sessions, world }),
    health: () => server.ask({ method: "GET", path: "/api/health", alsoAnswers: [503] }),
    async signIn(by) {
      await server.ask({ method: "POST", path: "/api/sign-in", body: by });
    },
    async signOut() {
      await server.ask({ method: "POST", path: "/api/sign-out", body: {}, isRepeatable: true });
    },
  };
}
