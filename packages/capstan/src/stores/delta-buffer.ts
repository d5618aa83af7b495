import type { Delta } from "../kernel/event.ts";
import type { PositionedDelta } from "../runtime/store.ts";

/** Buffers deltas that no fact contains yet, for watchers that subscribe within a message. */
export interface DeltaBuffer {
  /** Adds deltas of this process, which has seen all earlier ones. */
  add(sessionId: string, deltas: readonly PositionedDelta[]): void;
  /** Adds deltas of another process. Ignored unless its latest facts were seen, because earlier deltas may be missing. */
  addRemote(sessionId: string, deltas: readonly PositionedDelta[]): void;
  /** Called for new facts, which contain all earlier deltas. */
  clear(sessionId: string): void;
  /** Called for new facts of another process, whose deltas may follow. */
  expectRemote(sessionId: string): void;
  delete(sessionId: string): void;
  /** Called when notices of other processes may have been missed. */
  deleteRemote(sessionId: string): void;
  list(sessionId: string): readonly PositionedDelta[];
}

type BufferedDelta = {
  /** The latest delta of the stream. */
  latest: PositionedDelta;
  /** All text of the stream. Joined on demand, because there may be one delta per token. */
  texts: string[] | undefined;
};
type SessionDeltas = {
  isLocal: boolean;
  after: number;
  items: BufferedDelta[];
  size: number;
  /** Streams whose start was dropped: their later deltas are ignored, because they would look complete. */
  truncated: Map<string, Delta> | undefined;
};

const maxSessions = 10_000;
const maxCharacters = 1_000_000;
const maxTruncated = 100;
/** Size of a delta besides its text. */
const deltaOverhead = 100;

/** Creates a buffer of the deltas after the latest position of each session. */
export function createDeltaBuffer(): DeltaBuffer {
  const sessions = new Map<string, SessionDeltas>(); // ordered by last update

  function put(sessionId: string, session: SessionDeltas): SessionDeltas {
    sessions.delete(sessionId);
    sessions.set(sessionId, session);
    // A run that crashed within a message never clears its deltas.
    if (sessions.size > maxSessions) sessions.delete(sessions.keys().next().value ?? "");
    return session;
  }
  const start = (sessionId: string, isLocal: boolean) =>
    put(sessionId, { isLocal, after: -1, items: [], size: 0, truncated: undefined });

  function addAll(sessionId: string, session: SessionDeltas, deltas: readonly PositionedDelta[]): void {
    for (const positioned of deltas) {
      if (positioned.after > session.after) {
        advance(session, positioned.after);
        put(sessionId, session);
      }
      if (positioned.after === session.after) addTextDelta(session, positioned);
    }
  }

  return {
    add(sessionId, deltas) {
      const session = sessions.get(sessionId) ?? start(sessionId, true);
      session.isLocal = true;
      addAll(sessionId, session, deltas);
    },
    addRemote(sessionId, deltas) {
      const session = sessions.get(sessionId);
      if (session && !session.isLocal) addAll(sessionId, session, deltas);
    },
    clear(sessionId) {
      const session = sessions.get(sessionId);
      if (session) clearDeltas(session);
    },
    expectRemote(sessionId) {
      const session = sessions.get(sessionId) ?? start(sessionId, false);
      session.isLocal = false;
      clearDeltas(session);
    },
    delete: (sessionId) => void sessions.delete(sessionId),
    deleteRemote(sessionId) {
      if (sessions.get(sessionId)?.isLocal === false) sessions.delete(sessionId);
    },
    list: (sessionId) => sessions.get(sessionId)?.items.map(joinTexts) ?? [],
  };
}

/** Longer texts are split, so that a delta fits into a message between processes. */
const maxTextLength = 1_000;

/** Splits joined texts into deltas that are small enough to be sent. */
export function splitDeltas(deltas: readonly PositionedDelta[]): readonly PositionedDelta[] {
  return deltas.flatMap((positioned) => {
    const { delta } = positioned;
    if (!("delta" in delta) || delta.delta.length <= maxTextLength) return positioned;
    const count = Math.ceil(delta.delta.length / maxTextLength);
    return Array.from({ length: count }, (_, index) => {
      const text = delta.delta.slice(index * maxTextLength, (index + 1) * maxTextLength);
      return { ...positioned, delta: { ...delta, delta: text } };
    });
  });
}

/** Called for every token. */
function addTextDelta(session: SessionDeltas, positioned: PositionedDelta): void {
  const { delta } = positioned;
  if (!("delta" in delta)) {
    addOtherDelta(session, positioned);
    return;
  }
  const last = session.items[session.items.length - 1];
  if (last?.texts && isSameStream(last.latest.delta, delta)) {
    last.latest = positioned;
    if (delta.delta !== "") last.texts.push(delta.delta);
    session.size += delta.delta.length;
  } else {
    if (session.truncated?.has(toStreamKey(delta))) return;
    session.items.push({ latest: positioned, texts: [delta.delta] });
    session.size += deltaOverhead + delta.delta.length;
  }
  if (session.size > maxCharacters) dropOldestStream(session);
}

function addOtherDelta(session: SessionDeltas, positioned: PositionedDelta): void {
  const { delta } = positioned;
  if (delta.type === "message_restart") restartMessage(session, delta);
  // The latest progress replaces earlier ones.
  if (delta.type === "tool_progress") dropDeltas(session, (other) => isSameStream(other, delta));
  session.items.push({ latest: positioned, texts: undefined });
  session.size += deltaOverhead;
  if (session.size > maxCharacters) dropOldestStream(session);
}

/** Drops the deltas of the discarded message, and its truncation marks. */
function restartMessage(session: SessionDeltas, { runId }: Delta): void {
  const isDiscarded = (delta: Delta) => delta.runId === runId && messageDeltas.has(delta.type);
  dropDeltas(session, isDiscarded);
  for (const [stream, delta] of session.truncated ?? [])
    if (isDiscarded(delta)) session.truncated?.delete(stream);
}

const messageDeltas: ReadonlySet<Delta["type"]> = new Set([
  ...(["content_delta", "reasoning_delta", "tool_call_delta", "citation", "message_restart"] as const),
]);

function clearDeltas(session: SessionDeltas): void {
  if (session.items.length === 0) return;
  for (const { latest: positioned, texts } of session.items)
    if (texts) markTruncated(session, positioned.delta);
  session.items = [];
  session.size = 0;
}

/** Drops whole texts, because a partial one would be worse than none. */
function dropOldestStream(session: SessionDeltas): void {
  while (session.size > maxCharacters) {
    const oldest = session.items[0]?.latest.delta;
    if (oldest === undefined) return;
    dropDeltas(
      session,
      (delta) => delta === oldest || ("delta" in delta && isSameStream(delta, oldest)),
      true,
    );
  }
}

function dropDeltas(session: SessionDeltas, isDropped: (delta: Delta) => boolean, isTruncated = false): void {
  session.items = session.items.filter(({ latest: { delta }, texts }) => {
    if (!isDropped(delta)) return true;
    session.size -= deltaOverhead + (texts?.reduce((sum, text) => sum + text.length, 0) ?? 0);
    if (isTruncated && texts) markTruncated(session, delta);
    return false;
  });
}

function markTruncated(session: SessionDeltas, delta: Delta): void {
  session.truncated ??= new Map();
  session.truncated.set(toStreamKey(delta), delta);
  if (session.truncated.size > maxTruncated)
    session.truncated.delete(session.truncated.keys().next().value ?? "");
}

/** Moves to a new position. A nested run may continue its message across facts of a parallel run. */
function advance(session: SessionDeltas, after: number): void {
  clearDeltas(session);
  session.after = after;
  if (!session.truncated) return;
  const nested = [...session.truncated].filter(([, { parentRunId }]) => parentRunId !== undefined);
  session.truncated = nested.length > 0 ? new Map(nested) : undefined;
}

function isSameStream(left: Delta, right: Delta): boolean {
  return (
    left.type === right.type &&
    left.runId === right.runId &&
    left.turn === right.turn &&
    left.agent === right.agent &&
    getDeltaId(left) === getDeltaId(right)
  );
}

function toStreamKey(delta: Delta): string {
  return JSON.stringify([delta.type, delta.runId, delta.turn, delta.agent, getDeltaId(delta)]);
}

function getDeltaId(delta: Delta): string | undefined {
  return delta.type === "tool_call_delta" || delta.type === "tool_progress" ? delta.id : undefined;
}

function joinTexts(item: BufferedDelta): PositionedDelta {
  const { latest: positioned, texts } = item;
  if (!texts || !("delta" in positioned.delta)) return positioned;
  const delta = texts.join("");
  item.texts = [delta];
  item.latest = { after: positioned.after, delta: { ...positioned.delta, delta } };
  return item.latest;
}
