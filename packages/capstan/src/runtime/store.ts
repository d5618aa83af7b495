import type { Json } from "../base/json.ts";
import type { RequestQuery, StoredRequest } from "../features/exact-requests/stored-request.ts";
import type { Delta, Fact, UnplacedFact } from "../kernel/event.ts";
import type { Blob, NewBlob, Records } from "../kernel/records.ts";
import type { Feedback, RunFilter, RunPage, RunQuery, RunStatistics } from "./run-catalog.ts";

/** Exclusive right to write to a session. `token` increases with each holder, which makes a stale lease detectable. */
export type Lease = {
  readonly sessionId: string;
  readonly owner: string;
  readonly token: number;
  /** Set if the former holder has not released its lease: its process is gone, paused or cut off. */
  readonly wasHeld?: true;
};

export type LeaseRequest = {
  /**
   * Acquires the lease even while another owner holds it, which loses it. For engines that start one writer per session
   * and know that the former one is gone before the lease expires.
   */
  readonly takeOver?: boolean | undefined;
};

export type SessionInfo = {
  readonly id: string;
  /** The name shown to users; absent until the session is named. */
  readonly title?: string;
  readonly facts: number;
  /** Times of the first and the last fact; without facts, the time at which the session was created. */
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Restricts a listing of orphaned runs. */
export type OrphanOptions = {
  /** Also lists runs that wait and have no messages. */
  readonly includeWaiting?: boolean;
  /** Lists this run only. */
  readonly runId?: string;
  /** The maximum number of runs. Scopes take turns: one with many runs does not delay the first run of another. */
  readonly limit?: number;
  /**
   * Claims the runs: for this long, other listings with `claimMs` skip them, so that processes that look for work at the
   * same time get different runs. Runs that were claimed before come last. A claim ends when the session is leased. Use it
   * with `limit`, and without `includeWaiting` and `runId`.
   */
  readonly claimMs?: number;
  /** Skips these runs, which the process could not take over, so that it does not claim them again. */
  readonly except?: readonly string[];
};

export type SizedSession = SessionInfo & { readonly bytes: number };
export type ScopeSize = { readonly sessions: number; readonly bytes: number };

/** Restricts a listing to the sessions of one scope (default: all) and to `limit` items. */
export type SearchOptions = { readonly scope?: string; readonly limit?: number };

/** With `after`, a list continues after this session, usually the last one of the previous page. */
export type ListOptions = SearchOptions & { readonly after?: Pick<SessionInfo, "id" | "updatedAt"> };

/** A run in a listing. `active` means that it has work to do, whether or not a process is running it. */
export type RunInfo = {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly state: "active" | "waiting" | "ended";
  readonly startedAt: number;
  readonly updatedAt: number;
  /** The version of its newest facts, if a newer version of Capstan stored them: only that version can continue it. */
  readonly newerVersion?: number;
};

/** The unfinished runs of all sessions. */
export type RunCounts = {
  /** Runs with work to do, whether or not a process executes them. */
  readonly active: number;
  /** Runs that wait for an answer. */
  readonly waiting: number;
  /** Active runs that no process executes although they could continue now. */
  readonly untaken: number;
  /**
   * Since when the oldest of them could continue: its last fact, the end of the lease that its last process lost, or the
   * time until which it waited for its provider.
   */
  readonly untakenSince?: number;
};

/** A run and the position of its first fact. The run, including its nested runs, extends to the session's next run. */
export type FoundRun = RunInfo & { readonly firstSeq: number };

/** The state of a session up to a fact, as JSON text: a cache that saves reading and folding the facts before it. */
export type Snapshot = {
  /** Position of the last fact in the state. */
  readonly seq: number;
  /** Version of the text. Readers ignore snapshots of other versions. */
  readonly version: number;
  readonly state: string;
};

/** The content of a message to a run. */
export type MessageBody =
  /** `queuedAs` is the queued run that the message becomes if this run ends before it receives the message. */
  | { readonly type: "steer"; readonly text: string; readonly queuedAs?: string }
  | { readonly type: "cancel"; readonly reason?: string }
  /** Cancels the background run that this call has started. The run itself continues. */
  | { readonly type: "cancel_background"; readonly call: string; readonly reason?: string }
  /**
   * Continues a run that failed because of its model, was quarantined, or waits for its provider. The only message an
   * ended run accepts.
   */
  | { readonly type: "retry" }
  /** `input` replaces the arguments of the call. */
  | { readonly type: "approve"; readonly callId: string; readonly value?: Json; readonly input?: Json }
  | { readonly type: "deny"; readonly callId: string; readonly reason?: string }
  | { readonly type: "result"; readonly callId: string; readonly value: Json };

/** A message to a run, as stored. Sending the same `key` again has no effect. */
export type RunMessage = MessageBody & { readonly key: string };

/** Writes the content of a new session, see `Store.writeSession`. */
export interface SessionWriter {
  /** Appends facts, each of which occurs once. */
  append(facts: readonly UnplacedFact[]): Promise<void>;
  putBlob(blob: NewBlob): Promise<string>;
  /** Stores requests with their numbers. Missing if the store keeps none. */
  putRequests?(requests: readonly StoredRequest[]): Promise<void>;
}

/** A search match: the position of the fact, with an excerpt of its text. */
export type SearchHit = { readonly sessionId: string; readonly seq: number; readonly excerpt: string };

/** A delta and the position of the fact it follows. It is outdated once a later fact is stored. */
export type PositionedDelta = { readonly after: number; readonly delta: Delta };

/** A change in a session: new facts, a message to a run, or deltas, which are never stored. */
export type StoreNotice =
  | { readonly type: "facts" }
  | { readonly type: "message"; readonly runId: string }
  | { readonly type: "deltas"; readonly deltas: readonly PositionedDelta[] };

/** Concurrent writers of one record before a change is given up: each round, one of them succeeds. */
const _maxUpdates = 100;

/** Where facts are appended, and what is stored with them. */
export type AppendOptions = {
  readonly expected: number;
  readonly lease: Lease;
  readonly acknowledged?: readonly string[] | undefined;
  readonly requests?: readonly StoredRequest[] | undefined;
};

/**
 * Persists one append-only log of facts per session, with messages, leases and blobs, and versioned records outside
 * of sessions. Every implementation passes `storeSuite`. Methods reject with an `AgentError`; a rejected write stores
 * nothing.
 */
export interface Store extends Records {
  /**
   * Appends the facts after position `expected` and assigns each its `seq`, atomically. A fact whose identity is
   * already in the session is not stored again; the stored one is returned in its place. Rejects with
   * `position_conflict` if the log has grown past `expected`, with `lease_lost` if a newer lease exists, and with
   * `invalid_input` for a fact of an unknown type.
   * `acknowledged` lists the keys of the messages that these facts record; they are removed from the pending messages.
   * `requests` are stored in the same write; one whose number the session has is not stored again.
   */
  append(facts: readonly UnplacedFact[], at: AppendOptions): Promise<readonly Fact[]>;
  /** Returns up to `limit` facts after position `after`, in order; empty if the session does not exist. */
  read(sessionId: string, after?: number, limit?: number): Promise<readonly Fact[]>;
  /** Returns the id of the session that a run belongs to. */
  findSession(runId: string): Promise<string | undefined>;
  /** Returns a run with the position of its first fact, or with position 1 if the store does not know it. */
  findRun(runId: string): Promise<FoundRun | undefined>;
  /** Creates a session without facts; does nothing if it exists. */
  create(sessionId: string, title?: string): Promise<void>;
  /** Returns a session that was created or has facts. */
  getSession(sessionId: string): Promise<SessionInfo | undefined>;
  /**
   * Returns sessions, the most recently updated first, then by id; all of them without a `limit`. A page costs the same
   * at any position of the list.
   */
  list(options?: ListOptions): Promise<readonly SessionInfo[]>;
  /** Returns the size of the facts, requests and blobs of a session in bytes; 0 if it does not exist. */
  measureSession(sessionId: string): Promise<number>;
  /** Returns the number and the total size of the sessions of a scope, without reading their facts. */
  measureScope(scope: string): Promise<ScopeSize>;
  /** Returns the largest sessions of all scopes, the largest first. */
  listLargest(limit: number): Promise<readonly SizedSession[]>;
  /**
   * Creates a session with everything that `write` passes on, or nothing if `write` rejects or the process stops: other
   * readers see the session once it is complete. Rejects with `position_conflict` if the session exists.
   */
  writeSession(
    at: { readonly lease: Lease; readonly title?: string },
    write: (writer: SessionWriter) => Promise<void>,
  ): Promise<void>;
  /**
   * Deletes a session with its facts, messages, requests and blobs. The session disappears at once; the promise resolves when its
   * data is deleted, which another process finishes if this one stops.
   */
  remove(sessionId: string): Promise<void>;
  /** Sets the title of a session; an empty one removes it. */
  rename(sessionId: string, title: string): Promise<void>;
  /** Returns the runs of a session in the order they were started; with a `limit`, only the newest ones. */
  listRuns(sessionId: string, limit?: number): Promise<readonly RunInfo[]>;
  /**
   * Returns the newest runs of sessions without a valid lease that have work to do: active ones, and waiting ones with
   * pending messages; with `includeWaiting`, all waiting ones. With `claimMs` and a `limit`, the cost depends on the
   * limit alone, and not on the number of runs.
   */
  listOrphans(options?: OrphanOptions): Promise<readonly RunInfo[]>;
  /** Counts the unfinished runs, without reading ended ones. */
  countRuns(): Promise<RunCounts>;
  /**
   * Returns summaries of the runs of all sessions, without nested ones. Rejects with `invalid_input` for a cursor of
   * another query. A page that is sorted by start costs the same at any position of the list.
   */
  queryRuns(query?: RunQuery): Promise<RunPage>;
  /** Adds up the runs that a query selects, in periods of `bucketMs`. Rejects with `invalid_input` for too many of them. */
  summarizeRuns(filter: RunFilter & { readonly bucketMs: number }): Promise<RunStatistics>;
  /** Replaces the feedback of a run; undefined removes it. It is deleted with its session. Rejects with `unknown_run`. */
  putFeedback(runId: string, feedback: Feedback | undefined): Promise<void>;
  /**
   * Finds messages and tool results in which every query word starts a word, regardless of case and accents; 50 hits
   * without a `limit`. The best match is first. If there are many more matches than `limit`, the newest ones count.
   */
  search(words: string, options?: SearchOptions): Promise<readonly SearchHit[]>;

  /**
   * Stores a message for the process that holds the run's lease. Rejects with `unknown_run` or `run_ended`. An ended run
   * accepts a `retry` if the last fact of its session is its `done` and that can be retried; the run is `waiting` then.
   * Other retries reject with `not_retryable`.
   */
  sendMessage(runId: string, message: RunMessage): Promise<void>;
  /** Returns the messages that the run has not acknowledged yet, in order. */
  listMessages(runId: string): Promise<readonly RunMessage[]>;

  /** Acquires the lease of a session for `ms`; undefined while another owner holds it, unless `takeOver` is set. */
  lease(sessionId: string, owner: string, ms: number, request?: LeaseRequest): Promise<Lease | undefined>;
  /** Extends a lease by `ms` from now; false if it was lost. */
  renew(lease: Lease, ms: number): Promise<boolean>;
  release(lease: Lease): Promise<void>;

  /**
   * Replaces the snapshot of a session. Rejects with `lease_lost` as `append` does; a snapshot past the last fact is not
   * stored. It is deleted with its session, and the store may delete it at any time.
   */
  putSnapshot(snapshot: Snapshot, lease: Lease): Promise<void>;
  /** Returns the newest snapshot of a session. */
  getSnapshot(sessionId: string): Promise<Snapshot | undefined>;

  /** Stores data that is too large for a fact and returns its handle. It is deleted with its session. */
  putBlob(sessionId: string, blob: NewBlob): Promise<string>;
  getBlob(sessionId: string, handle: string): Promise<Blob | undefined>;

  /**
   * Returns requests to models, in the order of their numbers. They are deleted with their session. Missing if the store
   * keeps none: then no run spends time on them.
   */
  readRequests?(sessionId: string, query?: RequestQuery): Promise<readonly StoredRequest[]>;

  /** Sends deltas to the watchers of the session, in this process and, if the store supports it, in others. */
  publish(sessionId: string, deltas: readonly PositionedDelta[]): void;
  /**
   * Reports changes of a session until the returned function is called. A notice may be duplicate or spurious, but none
   * is missed. Deltas published since the last fact are reported, joined per text: those of this process before the call
   * returns, those of other processes soon after. A text whose beginning the store no longer has is skipped.
   */
  watch(sessionId: string, onNotice: (notice: StoreNotice) => void): () => void;

  /**
   * Reports that a run may have become orphaned, until the returned function is called: a process released the lease of an
   * unfinished run, or a message was sent to one. Optional and best effort: engines also list orphans regularly.
   */
  watchWork?(onWork: () => void): () => void;

  /** Closes files and connections. */
  close(): Promise<void>;
}
