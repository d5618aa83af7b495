import type { Fact } from "../kernel/event.ts";
import { createState, type State } from "../kernel/state.ts";
import { hasSecrets } from "../secrets/has-secrets.ts";
import type { SecretMask } from "../secrets/mask.ts";
import { apply } from "./facts.ts";
import { readFacts } from "./load-facts.ts";
import { parseState, serializeState, snapshotVersion } from "./snapshot.ts";
import type { Lease, Snapshot, Store } from "./store.ts";

/** A session, folded up to `state.seq`, and the size of its newest snapshot. */
export type OpenSession = {
  readonly state: State;
  /** Whether nothing has been stored yet, so that the first segment has nothing to fold. */
  isNew: boolean;
  /** Whether the facts after the snapshot are in the state, too. */
  isFolded: boolean;
  /** Position and length of the newest snapshot; 0 without one. */
  snapshot: { readonly seq: number; readonly length: number };
  /** False if the state differs from the stored facts, because secrets in them were masked. */
  isExact: boolean;
  /** The last fact that is known to be stored, once the store has failed: later ones in the state may be missing there. */
  storedSeq?: number;
};

type OpenSessionOptions = {
  readonly store: Store;
  /** The run to open, which a snapshot of a later run cannot restore. Default: the newest run. */
  readonly runId?: string;
  readonly masking?: SecretMask | undefined;
  /** Whether the id of the session was just created, so that nothing can be stored under it. */
  readonly isNew?: boolean | undefined;
};

/** Opens a session at its newest snapshot, or at its beginning. The facts after `state.seq` are yet to be folded. */
export async function openSession(sessionId: string, options: OpenSessionOptions): Promise<OpenSession> {
  const { isNew = false } = options;
  // A snapshot saves time only: without it, all facts are folded.
  const snapshot = isNew ? undefined : await options.store.getSnapshot(sessionId).catch(() => undefined);
  const state = snapshot && (await restoreState(sessionId, snapshot, options));
  const isKnown = snapshot?.version === snapshotVersion;
  return {
    state: state ?? createState(sessionId),
    snapshot: isKnown ? { seq: snapshot.seq, length: snapshot.state.length } : { seq: 0, length: 0 },
    isNew,
    isFolded: false,
    isExact: true,
  };
}

/** Returns the state of a snapshot; undefined if the run or the secrets do not allow to use it. */
async function restoreState(
  sessionId: string,
  { seq, version, state: text }: Snapshot,
  { store, runId, masking }: OpenSessionOptions,
): Promise<State | undefined> {
  if (version !== snapshotVersion) return undefined;
  const state = tryParseState(text);
  if (state?.sessionId !== sessionId || state.seq !== seq) return undefined;
  if (runId !== undefined && state.run?.id !== runId) {
    const run = await store.findRun(runId);
    if (run && run.firstSeq <= seq) return undefined;
  }
  return masking && hasSecrets(state, masking) ? undefined : state;
}

function tryParseState(text: string): State | undefined {
  try {
    return parseState(text);
  } catch {
    return undefined; // damaged
  }
}

/**
 * Folds the facts of the log that are not in the state yet, up to the end of the run, and reports each of them. Returns
 * whether a later run follows.
 */
export async function foldNewFacts(
  session: OpenSession,
  { store, runId, masking }: OpenSessionOptions,
  onFact?: (fact: Fact) => void,
): Promise<boolean> {
  const { state } = session;
  const { storedSeq = state.seq } = session;
  if (state.seq > storedSeq) Object.assign(state, createState(state.sessionId));
  delete session.storedSeq;
  for await (const page of readFacts(store, state.sessionId, state.seq)) {
    for (const stored of page) {
      const isNextRun = stored.type === "run_start" && stored.parentRunId === undefined;
      if (isNextRun && state.run && state.run.id === runId) return true;
      // The process that stored the fact may not have known the secrets.
      const fact = masking ? masking.fact(stored) : stored;
      if (fact !== stored) session.isExact = false;
      apply(state, fact);
      if (fact.seq > storedSeq) onFact?.(fact);
    }
  }
  return false;
}

/** Fewer facts are read and folded faster than a snapshot. */
const defaultInterval = 300;
/** A larger snapshot needs more new facts, so that writing snapshots costs at most this many characters per fact. */
const charactersPerFact = 1000;
/** Serializing a larger state would block the process for too long. */
const maxLength = 4_000_000;

type SaveSnapshotOptions = {
  readonly store: Store;
  readonly lease: Lease;
  /** Facts between two snapshots. */
  readonly every?: number | undefined;
};

/**
 * Stores a snapshot of the state if enough facts were appended since the last one. Never rejects: without the snapshot,
 * the next reader folds more facts.
 */
export async function saveSnapshot(
  session: OpenSession,
  { store, lease, every = defaultInterval }: SaveSnapshotOptions,
): Promise<void> {
  const { state, snapshot, isExact } = session;
  const minTail = Math.max(every, snapshot.length / charactersPerFact);
  if (!isExact || state.seq - snapshot.seq < minTail) return;
  try {
    const { seq } = state;
    const text = serializeState(state);
    session.snapshot = { seq, length: text.length };
    if (text.length > maxLength) return;
    await store.putSnapshot({ seq, version: snapshotVersion, state: text }, lease);
  } catch {
    // The lease or the connection was lost, or the state is nested too deeply to be serialized.
  }
}
