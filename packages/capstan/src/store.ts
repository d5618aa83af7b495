import type { Delta, Fact, UnplacedFact } from "./event.ts";
import type { Json } from "./json.ts";

/** The right to write to a session, held by one at a time. `token` grows with each holder, so that a stale one is known. */
export type Lease = { readonly sessionId: string; readonly owner: string; readonly token: number };

export type SessionInfo = {
  readonly id: string;
  /** What a person calls it; left out until somebody has named it. */
  readonly title?: string;
  readonly facts: number;
  /** Of the first fact and of the last one; of a session without any, when it was made. */
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Which sessions to look at: those of one scope, or all when it is left out; and how much to give at most. */
export type ListOptions = { readonly scope?: string; readonly limit?: number };

/** The scope of a session, such as its user: what its id has before the first `~`. */
export function getScope(sessionId: string): string {
  return sessionId.slice(0, Math.max(0, sessionId.indexOf("~")));
}

export type Blob = { readonly mediaType: string; readonly size: number; readonly data: string | Uint8Array };

/** A run as a list shows it. `active`: it has work to do, whether or not somebody is at it. */
export type RunInfo = {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly state: "active" | "waiting" | "ended";
  readonly startedAt: number;
  readonly updatedAt: number;
};

/** What a message asks of a run. */
export type MessageBody =
  | { readonly type: "steer"; readonly text: string }
  | { readonly type: "cancel"; readonly reason?: string }
  | { readonly type: "approve"; readonly callId: string; readonly value?: Json }
  | { readonly type: "deny"; readonly callId: string; readonly reason?: string }
  | { readonly type: "result"; readonly callId: string; readonly value: Json };

/** A message to a run, as stored. Sending the same `key` again has no effect. */
export type RunMessage = MessageBody & { readonly key: string };

/** A place in a session where words were found, with some of the words around them. */
export type SearchHit = { readonly sessionId: string; readonly seq: number; readonly excerpt: string };

/** A delta and the position it was said after: behind a later fact it is out of date. */
export type PositionedDelta = { readonly after: number; readonly delta: Delta };

/** Of a session: there are new facts, a run has been told something, or pieces that are shown and never stored. */
export type StoreNotice =
  | { readonly type: "facts" }
  | { readonly type: "message"; readonly runId: string }
  | { readonly type: "deltas"; readonly deltas: readonly PositionedDelta[] };

/** Something small that is no session, such as a stored agent, in one of its versions. */
export type StoredRecord = {
  /** What it is: ids are apart between kinds. */
  readonly kind: string;
  readonly id: string;
  /** Counted from 1. A number is never given twice, also when the record was removed in between. */
  readonly version: number;
  readonly body: Json;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/**
 * Small records, each with its versions. A kind has at most 100 characters, an id 200, a body 1,000,000 bytes as JSON:
 * what is larger rejects with `invalid_input`. What is given back is the caller's own.
 */
export interface Records {
  /** The newest version. */
  getRecord(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** The newest version of each of a kind, by id. */
  listRecords(kind: string): Promise<readonly StoredRecord[]>;
  /** All versions, oldest first; none of one that was removed. */
  listRecordVersions(kind: string, id: string): Promise<readonly StoredRecord[]>;
  /**
   * Stores the next version. `expectedVersion` is the newest one that the writer knows, 0 when there must be none.
   * Rejects with `position_conflict` when it is another: of several who write at once, one wins. With `replaces` the
   * versions before it are gone with the same write.
   */
  putRecord(
    getRecord: { readonly kind: string; readonly id: string; readonly body: Json; readonly replaces?: true },
    expectedVersion: number,
  ): Promise<StoredRecord>;
  /** Removes it with all its versions. Rejects with `position_conflict` as `putRecord` does. */
  removeRecord(kind: string, id: string, expectedVersion: number): Promise<void>;
}

/**
 * An append-only log of facts per session, with leases and blobs, and small records beside the sessions. Every
 * implementation passes `storeSuite`. Methods reject with an `AgentError`; a rejected write has stored nothing.
 */
export interface Store extends Records {
  /**
   * Stores the facts behind position `expected` and gives each its `seq`. A fact whose identity is already in the
   * session is not stored again: it comes back as it was first. All of them, or none. Rejects with
   * `position_conflict` when the log has grown past `expected`, and with `lease_lost` when the lease is not the
   * newest one. `heard` are the keys of what the run was told and these facts say: it is not waiting any more.
   */
  append(
    facts: readonly UnplacedFact[],
    at: { readonly expected: number; readonly lease: Lease; readonly acknowledged?: readonly string[] },
  ): Promise<readonly Fact[]>;
  /** The facts behind position `after`, in order, at most `most` of them; none for a session that does not exist. */
  read(sessionId: string, after?: number, most?: number): Promise<readonly Fact[]>;
  /** The session a run belongs to. */
  findSession(runId: string): Promise<string | undefined>;
  /** Makes a session without facts; does nothing when there is one. */
  create(sessionId: string, title?: string): Promise<void>;
  /** One that was made or has facts. */
  getSession(sessionId: string): Promise<SessionInfo | undefined>;
  /** Newest first; all of them when `most` is left out. */
  list(options?: ListOptions): Promise<readonly SessionInfo[]>;
  remove(sessionId: string): Promise<void>;
  /** Gives the session a title; an empty one takes it away. */
  rename(sessionId: string, title: string): Promise<void>;
  /** The runs of a session, in the order they were started. */
  listRuns(sessionId: string): Promise<readonly RunInfo[]>;
  /** Runs with work to do and nobody at it: active, or waiting and told something, with no valid lease. */
  listOrphans(): Promise<readonly RunInfo[]>;
  /** Where all these words were said or given by a tool; the best places first, fifty when `most` is left out. */
  search(words: string, options?: ListOptions): Promise<readonly SearchHit[]>;

  /** Leaves a message for a run, for whoever has its lease. Rejects with `unknown_run`, and with `run_ended`. */
  sendMessage(runId: string, message: RunMessage): Promise<void>;
  /** What a run was told and has not heard yet, in order. */
  listMessages(runId: string): Promise<readonly RunMessage[]>;

  /** Takes the right to write for `ms`, or gives undefined while another owner has it. */
  lease(sessionId: string, owner: string, ms: number): Promise<Lease | undefined>;
  /** Keeps it for another `ms`; false when it has been lost. */
  renew(lease: Lease, ms: number): Promise<boolean>;
  release(lease: Lease): Promise<void>;

  /** Keeps what is too large for a fact; gone with its session. */
  putBlob(
    sessionId: string,
    blob: { readonly mediaType: string; readonly data: string | Uint8Array },
  ): Promise<string>;
  getBlob(sessionId: string, handle: string): Promise<Blob | undefined>;

  /** Shows pieces to those who watch the session, here and, where the store can, in other processes. */
  publish(sessionId: string, pieces: readonly PositionedDelta[]): void;
  /**
   * Hears of a session until the returned function is called. News may come twice, or for nothing; never too few. What was
   * published since the last facts is heard before the call returns, with deltas of one text joined; of a text whose
   * beginning the store does not have any more, nothing.
   */
  watch(sessionId: string, hear: (news: StoreNotice) => void): () => void;

  /** Lets go of files and connections. */
  close(): Promise<void>;
}
