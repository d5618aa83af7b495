import type { Event } from "../event.ts";
import type { ExportFormat } from "../sessions/session.ts";
import type { FoundSession, ListedSession } from "../sessions/sessions.ts";
import type { SessionSummary } from "../sessions/summary.ts";
import type { Connection } from "./connection.ts";
import { type FollowOptions, followEvents } from "./follow-events.ts";
import type { World } from "./world.ts";

export type { ExportFormat, FoundSession, ListedSession, SessionSummary };

/** A session, and how many facts it has in common with the one it is told of. */
export type Branch = { readonly sessionId: string; readonly at: number };

/** A session with where it comes from, and what was made of it. */
export type SessionDetails = SessionSummary & {
  readonly origin?: Branch;
  readonly forks: readonly (Branch & { readonly title: string })[];
};

/** The sessions of a server: those of whoever asks. */
export interface SessionsClient {
  /** The newest first. */
  list(options?: { readonly most?: number }): Promise<readonly ListedSession[]>;
  /** The sessions in which all these words were said at one place. */
  search(words: string, options?: { readonly most?: number }): Promise<readonly FoundSession[]>;
  create(options?: { readonly title?: string }): Promise<SessionSummary>;
  get(sessionId: string): Promise<SessionDetails>;
  /** An empty title takes the old one away: it is then called by its first words. */
  rename(sessionId: string, title: string): Promise<void>;
  /** With all that was said in it, for good. */
  remove(sessionId: string): Promise<void>;
  /** A new session with the first `at` facts; 0 for none. */
  fork(sessionId: string, at: number, options?: { readonly title?: string }): Promise<SessionSummary>;
  /** As a text: to read (`markdown`, `html`), or to import elsewhere (`json`). */
  export(sessionId: string, format: ExportFormat): Promise<string>;
  /** Stores an exported session (`json`). Starts nothing. */
  import(file: string, options?: { readonly title?: string }): Promise<SessionSummary>;
  /** The events of all its runs, over lost connections and restarts of the server, until it is aborted. */
  events(sessionId: string, options?: FollowOptions): AsyncIterableIterator<Event, void, undefined>;
}

/** The sessions of the server at the other end. */
export function sessionsClient(connection: Connection, world: World): SessionsClient {
  const { ask, read } = connection;
  const all = "/api/sessions";
  const pathOf = (sessionId: string) => `${all}/${encodeURIComponent(sessionId)}`;
  const make = (path: string, body: object) =>
    ask<SessionSummary>({ method: "POST", path, body, key: world.newKey() });
  return {
    list: async (query = {}) =>
      (await ask<{ sessions: readonly ListedSession[] }>({ method: "GET", path: all, query })).sessions,
    search: async (words, { most } = {}) => {
      const query = { search: words, most };
      return (await ask<{ sessions: readonly FoundSession[] }>({ method: "GET", path: all, query })).sessions;
    },
    create: (options = {}) => make(all, options),
    get: (sessionId) => ask({ method: "GET", path: pathOf(sessionId) }),
    async rename(sessionId, title) {
      await ask({ method: "PATCH", path: pathOf(sessionId), body: { title }, isRepeatable: true });
    },
    async remove(sessionId) {
      await ask({ method: "DELETE", path: pathOf(sessionId), isRepeatable: true });
    },
    fork: (sessionId, at, options = {}) => make(`${pathOf(sessionId)}/fork`, { at, ...options }),
    export: (sessionId, format) =>
      read({ method: "GET", path: `${pathOf(sessionId)}/export`, query: { format } }),
    import: (file, options = {}) => make(all, { file, ...options }),
    events: (sessionId, options = {}) =>
      followEvents(
        {
          path: `${pathOf(sessionId)}/events`,
          connection,
          world,
          isEnd: () => false,
          isOver: async () => false,
        },
        options,
      ),
  };
}
