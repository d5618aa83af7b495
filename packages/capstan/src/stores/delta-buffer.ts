import type { Delta } from "../event.ts";
import type { PositionedDelta } from "../store.ts";

/** What is being said and is in no fact yet, for those who begin to watch in the middle of it. */
export interface SaidSoFar {
  /** Of this process, which has said all that was before. */
  add(sessionId: string, pieces: readonly PositionedDelta[]): void;
  /** Of another process: kept when its last facts were heard of, so that nothing before can have been missed. */
  relay(sessionId: string, pieces: readonly PositionedDelta[]): void;
  /** There are facts: they say what was said before them. */
  settle(sessionId: string): void;
  /** There are facts of another process, which may say more. */
  expect(sessionId: string): void;
  forget(sessionId: string): void;
  /** Something of other processes may have been missed. */
  forgetOthers(): void;
  of(sessionId: string): readonly PositionedDelta[];
}

type Item = {
  /** The newest one. */
  piece: PositionedDelta;
  /** Of a delta with text: all of it. Joined only when somebody asks, because there may be one for each token. */
  texts: string[] | undefined;
};
type Talk = {
  isOurs: boolean;
  after: number;
  items: Item[];
  size: number;
  /** Texts whose beginning is not kept any more, by stream: what comes of them would be shown as the whole. */
  broken: Map<string, Delta> | undefined;
};

const mostTalks = 10_000;
const mostCharacters = 1_000_000;
const mostBroken = 100;
/** What a piece counts for beside its text. */
const pieceSize = 100;

/** Keeps the pieces behind the newest position of each session. */
export function saidSoFar(): SaidSoFar {
  const talks = new Map<string, Talk>(); // in the order of their last messages

  function put(sessionId: string, talk: Talk): Talk {
    talks.delete(sessionId);
    talks.set(sessionId, talk);
    // A run that was cut off in mid-sentence is followed by nothing that would end its talk.
    if (talks.size > mostTalks) talks.delete(talks.keys().next().value ?? "");
    return talk;
  }
  const begin = (sessionId: string, isOurs: boolean) =>
    put(sessionId, { isOurs, after: -1, items: [], size: 0, broken: undefined });

  function keepAll(sessionId: string, talk: Talk, pieces: readonly PositionedDelta[]): void {
    for (const piece of pieces) {
      if (piece.after > talk.after) {
        moveOn(talk, piece.after);
        put(sessionId, talk);
      }
      if (piece.after === talk.after) keep(talk, piece);
    }
  }

  return {
    add(sessionId, pieces) {
      const talk = talks.get(sessionId) ?? begin(sessionId, true);
      talk.isOurs = true;
      keepAll(sessionId, talk, pieces);
    },
    relay(sessionId, pieces) {
      const talk = talks.get(sessionId);
      if (talk && !talk.isOurs) keepAll(sessionId, talk, pieces);
    },
    settle(sessionId) {
      const talk = talks.get(sessionId);
      if (talk) dropAll(talk);
    },
    expect(sessionId) {
      const talk = talks.get(sessionId) ?? begin(sessionId, false);
      talk.isOurs = false;
      dropAll(talk);
    },
    forget: (sessionId) => void talks.delete(sessionId),
    forgetOthers() {
      for (const [sessionId, { isOurs }] of talks) if (!isOurs) talks.delete(sessionId);
    },
    of: (sessionId) => talks.get(sessionId)?.items.map(joined) ?? [],
  };
}

/** Called for each token. */
function keep(talk: Talk, piece: PositionedDelta): void {
  const { delta } = piece;
  if (!("delta" in delta)) {
    keepOther(talk, piece);
    return;
  }
  const last = talk.items[talk.items.length - 1];
  if (last?.texts && isSameStream(last.piece.delta, delta)) {
    last.piece = piece;
    if (delta.delta !== "") last.texts.push(delta.delta);
    talk.size += delta.delta.length;
  } else {
    if (talk.broken?.has(streamOf(delta))) return;
    talk.items.push({ piece, texts: [delta.delta] });
    talk.size += pieceSize + delta.delta.length;
  }
  if (talk.size > mostCharacters) giveUpOldest(talk);
}

function keepOther(talk: Talk, piece: PositionedDelta): void {
  const { delta } = piece;
  if (delta.type === "message_restart") startAnew(talk, delta);
  // The newest says it all.
  if (delta.type === "tool_progress") dropWhere(talk, (other) => isSameStream(other, delta));
  talk.items.push({ piece, texts: undefined });
  talk.size += pieceSize;
  if (talk.size > mostCharacters) giveUpOldest(talk);
}

/** What was said of the message is void, also what was lost of it. */
function startAnew(talk: Talk, { runId }: Delta): void {
  const isVoid = (delta: Delta) => delta.runId === runId && ofMessage.has(delta.type);
  dropWhere(talk, isVoid);
  for (const [stream, delta] of talk.broken ?? []) if (isVoid(delta)) talk.broken?.delete(stream);
}

const ofMessage: ReadonlySet<Delta["type"]> = new Set([
  ...(["content_delta", "reasoning_delta", "tool_call_delta", "citation", "message_restart"] as const),
]);

function dropAll(talk: Talk): void {
  if (talk.items.length === 0) return;
  for (const { piece, texts } of talk.items) if (texts) breakOff(talk, piece.delta);
  talk.items = [];
  talk.size = 0;
}

/** A whole text at a time: half of one would be worse than nothing. */
function giveUpOldest(talk: Talk): void {
  while (talk.size > mostCharacters) {
    const oldest = talk.items[0]?.piece.delta;
    if (oldest === undefined) return;
    dropWhere(talk, (delta) => delta === oldest || ("delta" in delta && isSameStream(delta, oldest)), true);
  }
}

function dropWhere(talk: Talk, isDropped: (delta: Delta) => boolean, isBroken = false): void {
  talk.items = talk.items.filter(({ piece: { delta }, texts }) => {
    if (!isDropped(delta)) return true;
    talk.size -= pieceSize + (texts?.reduce((sum, text) => sum + text.length, 0) ?? 0);
    if (isBroken && texts) breakOff(talk, delta);
    return false;
  });
}

function breakOff(talk: Talk, delta: Delta): void {
  talk.broken ??= new Map();
  talk.broken.set(streamOf(delta), delta);
  if (talk.broken.size > mostBroken) talk.broken.delete(talk.broken.keys().next().value ?? "");
}

/** There was a fact. A nested run may go on with its message across the facts of another that runs beside it. */
function moveOn(talk: Talk, after: number): void {
  dropAll(talk);
  talk.after = after;
  if (!talk.broken) return;
  const nested = [...talk.broken].filter(([, { parentRunId }]) => parentRunId !== undefined);
  talk.broken = nested.length > 0 ? new Map(nested) : undefined;
}

function isSameStream(left: Delta, right: Delta): boolean {
  return (
    left.type === right.type &&
    left.runId === right.runId &&
    left.turn === right.turn &&
    left.agent === right.agent &&
    idOf(left) === idOf(right)
  );
}

function streamOf(delta: Delta): string {
  return JSON.stringify([delta.type, delta.runId, delta.turn, delta.agent, idOf(delta)]);
}

function idOf(delta: Delta): string | undefined {
  return delta.type === "tool_call_delta" || delta.type === "tool_progress" ? delta.id : undefined;
}

function joined(item: Item): PositionedDelta {
  const { piece, texts } = item;
  if (!texts || !("delta" in piece.delta)) return piece;
  const delta = texts.join("");
  item.texts = [delta];
  item.piece = { after: piece.after, delta: { ...piece.delta, delta } };
  return item.piece;
}
