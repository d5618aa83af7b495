import type { ApprovalRule } from "../kernel/approval-scope.ts";
import type { Event, Fact, RunStatus } from "../kernel/event.ts";
import type { ExportFormat } from "../sessions/export-session.ts";
import type { FoundSession, ListedSession } from "../sessions/sessions.ts";
import type { SessionSummary } from "../sessions/summary.ts";
import type { Connection } from "./connection.ts";
import type { ClientEnvironment } from "./environment.ts";
import { type FollowViewOptions, followEvents, followView, type ViewEvent } from "./follow-events.ts";
import type { FollowOptions } from "./follow-stream.ts";
import type { StartedRun } from "./runs-client.ts";

export type { ApprovalRule, ExportFormat, FoundSession, ListedSession, SessionSummary };

/** A related session; the first `at` facts are shared. */
export type Branch = { readonly sessionId: string; readonly at: number };

/** A session with its origin and its forks. */
export type SessionDetails = SessionSummary & {
  readonly origin?: Branch;
  readonly forks: readonly (Branch & { readonly title: string })[];
};

/** A page of a session, counted from its end. */
export type FactPage = {
  readonly facts: readonly Fact[];
  /** The first fact of the run in which the page starts, if the page does not contain it. */
  readonly start?: Fact;
  /** Pass it as `before` for the page before this one. Absent on the first page of the session. */
  readonly previous?: number;
};

/** A session in a list. The other fields are there only if the list was requested with `details`. */
export type SessionListItem = ListedSession & {
  /** The agent of its newest run. */
  readonly agent?: string;
  /** The state of its newest run. */
  readonly state?: "active" | "waiting" | "ended";
  /** How its newest run has ended. */
  readonly status?: RunStatus;
  /** The session it was forked from. */
  readonly origin?: string;
};

/** A page of a list of sessions. */
export type SessionPage = { readonly sessions: readonly SessionListItem[]; readonly next?: string };

/** Manages the current user's sessions on a server. */
export interface SessionsClient {
  /** Newest first. */
  list(options?: { readonly most?: number }): Promise<readonly ListedSession[]>;
  /** Returns a page, newest first. `cursor` is `next` of the previous page; the last page has none. */
  listPage(options?: {
    readonly most?: number;
    readonly cursor?: string;
    /** Adds the agent, the state and the status of the newest run, and the session it was forked from. */
    readonly details?: true;
  }): Promise<SessionPage>;
  /** Finds sessions in which one entry contains all these words. */
  search(words: string, options?: { readonly most?: number }): Promise<readonly FoundSession[]>;
  create(options?: { readonly title?: string }): Promise<SessionSummary>;
  get(sessionId: string): Promise<SessionDetails>;
  /** An empty title resets it to the first words of the session. */
  rename(sessionId: string, title: string): Promise<void>;
  /** Deletes the session permanently. */
  remove(sessionId: string): Promise<void>;
  /** Creates a session with the first `at` facts, 0 for none. */
  fork(sessionId: string, at: number, options?: { readonly title?: string }): Promise<SessionSummary>;
  /** Starts a run that summarizes the history of the session; its text says how many tokens that saved. */
  compact(
    sessionId: string,
    options?: { readonly agent?: string; readonly model?: string },
  ): Promise<StartedRun>;
  /** Exports for reading (`markdown`, `html`) or for import (`json`). */
  export(sessionId: string, format: ExportFormat): Promise<string>;
  /** Stores an exported session (`json`). Starts no run. */
  import(file: string, options?: { readonly title?: string }): Promise<SessionSummary>;
  /** Lists the calls that are allowed in the session without asking. */
  listApprovalRules(sessionId: string): Promise<readonly ApprovalRule[]>;
  revokeApprovalRule(sessionId: string, ruleId: string): Promise<void>;
  /** Returns the last `limit` facts (100 by default), or the last ones before a position. */
  page(
    sessionId: string,
    options?: { readonly before?: number | undefined; readonly limit?: number | undefined },
  ): Promise<FactPage>;
  /** Follows the events of all its runs across reconnects and server restarts, until aborted. */
  events(sessionId: string, options?: FollowOptions): AsyncIterableIterator<Event, void, undefined>;
  /** Follows a view of the events of all its runs, such as `chat`, until aborted. */
  viewEvents(
    sessionId: string,
    view: string,
    options?: FollowViewOptions,
  ): AsyncIterableIterator<ViewEvent, void, undefined>;
}

export function createSessionsClient(connection: Connection, environment: ClientEnvironment): SessionsClient {
  const { request, requestText } = connection;
  const collectionPath = "/api/sessions";
  const getSessionPath = (sessionId: string) => `${collectionPath}/${encodeURIComponent(sessionId)}`;
  const getSource = (sessionId: string) => ({
    path: `${getSessionPath(sessionId)}/events`,
    connection,
    environment,
    hasEnded: async () => false,
  });
  const createSession = (path: string, body: object) =>
    request<SessionSummary>({ method: "POST", path, body, key: environment.createKey() });
  const listPage: SessionsClient["listPage"] = ({ details, ...query } = {}) =>
    request<SessionPage>({
      method: "GET",
      path: collectionPath,
      query: { ...query, ...(details && { details: "true" }) },
    });
  return {
    list: async (options) => (await listPage(options)).sessions,
    listPage,
    search: async (words, { most } = {}) => {
      const query = { search: words, most };
      return (
        await request<{ sessions: readonly FoundSession[] }>({ method: "GET", path: collectionPath, query })
      ).sessions;
    },
    create: (options = {}) => createSession(collectionPath, options),
    get: (sessionId) => request({ method: "GET", path: getSessionPath(sessionId) }),
    async rename(sessionId, title) {
      await request({
        method: "PATCH",
        path: getSessionPath(sessionId),
        body: { title },
        isIdempotent: true,
      });
    },
    async remove(sessionId) {
      await request({ method: "DELETE", path: getSessionPath(sessionId), isIdempotent: true });
    },
    fork: (sessionId, at, options = {}) =>
      createSession(`${getSessionPath(sessionId)}/fork`, { at, ...options }),
    compact: (sessionId, options = {}) =>
      request({
        ...{ method: "POST", path: `${getSessionPath(sessionId)}/compact`, body: options },
        key: environment.createKey(),
      }),
    export: (sessionId, format) =>
      requestText({ method: "GET", path: `${getSessionPath(sessionId)}/export`, query: { format } }),
    import: (file, options = {}) => createSession(collectionPath, { file, ...options }),
    listApprovalRules: async (sessionId) => {
      const path = `${getSessionPath(sessionId)}/approval-rules`;
      return (await request<{ rules: readonly ApprovalRule[] }>({ method: "GET", path })).rules;
    },
    async revokeApprovalRule(sessionId, ruleId) {
      const path = `${getSessionPath(sessionId)}/approval-rules/${encodeURIComponent(ruleId)}`;
      await request({ method: "DELETE", path, isIdempotent: true });
    },
    page: (sessionId, query = {}) =>
      request({ method: "GET", path: `${getSessionPath(sessionId)}/facts`, query }),
    events: (sessionId, options = {}) =>
      followEvents({ ...getSource(sessionId), isLastFact: () => false }, options),
    viewEvents: (sessionId, view, options = {}) => followView(getSource(sessionId), view, options),
  };
}
