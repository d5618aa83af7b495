import type { Fact, UnplacedFact } from "./event.ts";

/** The right to write to a session, held by one at a time. `token` grows with each holder, so that a stale one is known. */
export type Lease = { readonly sessionId: string; readonly owner: string; readonly token: number };

export type SessionInfo = {
  readonly id: string;
  readonly facts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type Blob = { readonly mediaType: string; readonly size: number; readonly data: string | Uint8Array };

/**
 * An append-only log of facts per session, with leases and blobs. Every implementation passes `storeSuite`.
 * Methods reject with an `AgentError`; a rejected `append` has stored nothing.
 */
export interface Store {
  /**
   * Stores the facts behind position `expected` and gives each its `seq`. A fact whose identity is already in the
   * session is not stored again: it comes back as it was first. All of them, or none. Rejects with
   * `position_conflict` when the log has grown past `expected`, and with `lease_lost` when the lease is not the
   * newest one.
   */
  append(
    facts: readonly UnplacedFact[],
    at: { readonly expected: number; readonly lease: Lease },
  ): Promise<readonly Fact[]>;
  /** The facts behind position `after`, in order; none for a session that does not exist. */
  read(sessionId: string, after?: number): Promise<readonly Fact[]>;
  /** The session a run belongs to. */
  sessionOf(runId: string): Promise<string | undefined>;
  /** Newest first. */
  list(): Promise<readonly SessionInfo[]>;
  remove(sessionId: string): Promise<void>;

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
}
