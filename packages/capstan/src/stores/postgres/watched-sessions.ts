import type { BusSubscription, DeltaBus } from "../../buses/delta-bus.ts";
import { isPositionedDelta } from "../is-positioned-delta.ts";
import type { Watchers } from "../watchers.ts";
import type { Database } from "./database.ts";
import { decodeText, encodeText } from "./stored-text.ts";

/** The sessions that are watched in this process: receives the messages of other processes about them. */
export interface WatchedSessions {
  /** Follows a session until the returned function is called. */
  follow(sessionId: string): () => void;
  /** Called when this process has stored facts up to this position. */
  advance(sessionId: string, seq: number): void;
  /**
   * Reports what watchers may have missed: facts and messages whose notices were lost, or came before the subscription.
   * Without an id, for all sessions.
   */
  checkPositions(sessionId?: string): Promise<void>;
  close(): void;
}

export type WatchedSessionsOptions = {
  readonly database: Database;
  readonly schema: string;
  readonly bus: DeltaBus;
  readonly watchers: Watchers;
  /** Identifies this store, whose own messages are ignored. */
  readonly origin: string;
  toTopic(sessionId: string): string;
  /** Called when messages about a session arrive. */
  onFollow(sessionId: string): void;
  /** Called when another process has begun to watch a session and asks for the deltas since its last fact. */
  onJoin(sessionId: string, requester: string): void;
};

type Watched = {
  readonly subscription: BusSubscription;
  /** The last position that watchers know of, and the last message. */
  seq: number | undefined;
  lastMessage: number;
  /** The sender of the last message on the bus, and its number. */
  origin: unknown;
  number: unknown;
  /** Which deltas of another process arrive: a message in progress is skipped unless its start arrives as a backlog. */
  deltas: "partial" | "backlog" | "all";
};

export function createWatchedSessions(options: WatchedSessionsOptions): WatchedSessions {
  const { database, schema, bus, watchers } = options;
  const watchedSessions = new Map<string, Watched>();

  async function checkPositions(sessionId?: string): Promise<void> {
    const sessionIds = sessionId === undefined ? [...watchedSessions.keys()] : [sessionId];
    if (sessionIds.length === 0) return;
    const text = `SELECT id AS session, NULL AS run, facts AS place FROM ${schema}.sessions WHERE id = ANY ($1)
      UNION ALL SELECT session_id, run_id, max(told.place) FROM ${schema}.runs JOIN ${schema}.told ON run_id = runs.id
        WHERE session_id = ANY ($1) AND NOT heard GROUP BY session_id, run_id ORDER BY run NULLS FIRST`;
    for (const { session, run, place } of await database.attempt({
      text,
      values: [sessionIds.map(encodeText)],
    })) {
      const [id, position] = [decodeText(session), Number(place)];
      const watched = watchedSessions.get(id);
      if (run === null && watched && watched.seq !== position) {
        watched.seq = position;
        watchers.notifyMissed(id, { type: "facts" });
      } else if (run !== null && watched && watched.lastMessage < position) {
        watched.lastMessage = position;
        watchers.notifyMissed(id, { type: "message", runId: decodeText(run) });
      }
    }
  }

  async function catchUp(sessionId: string, watched: Watched): Promise<void> {
    await watched.subscription.ready;
    if (watchedSessions.get(sessionId) !== watched) return;
    // First: a position that is new here would discard the backlog that `onFollow` requests.
    await checkPositions(sessionId).finally(() => options.onFollow(sessionId));
  }

  return {
    checkPositions,
    follow(sessionId) {
      const subscription = bus.subscribe(options.toTopic(sessionId), (text) => {
        const watched = watchedSessions.get(sessionId);
        if (watched) receive(options, { sessionId, watched }, text);
      });
      const watched: Watched = {
        subscription,
        ...{ seq: undefined, lastMessage: 0, origin: undefined, number: 0, deltas: "partial" },
      };
      watchedSessions.set(sessionId, watched);
      catchUp(sessionId, watched).catch(() => undefined); // the next poll tries again
      return () => {
        if (watchedSessions.get(sessionId) === watched) watchedSessions.delete(sessionId);
        subscription.close();
        watchers.resetRemote(sessionId);
      };
    },
    advance(sessionId, seq) {
      const watched = watchedSessions.get(sessionId);
      if (watched) watched.seq = seq;
    },
    close() {
      for (const { subscription } of watchedSessions.values()) subscription.close();
      watchedSessions.clear();
    },
  };
}

/** Handles a message of another process: `[origin, number, topic, type, …]`. */
function receive(
  { watchers, origin, toTopic, onJoin }: WatchedSessionsOptions,
  { sessionId, watched }: { readonly sessionId: string; readonly watched: Watched },
  text: string,
): void {
  const [from, number, topic, type, detail, ...more] = parseMessage(text);
  if (from === origin || typeof from !== "string" || topic !== toTopic(sessionId)) return;
  if (type === "join") {
    onJoin(sessionId, from);
    return;
  }
  const passOn = (given: readonly unknown[]) => {
    const deltas = given.filter((value) => isPositionedDelta(value, sessionId));
    if (deltas.length > 0) watchers.notifyRemote(sessionId, { type: "deltas", deltas });
  };
  const isNext = watched.origin === from && Number(watched.number) + 1 === number;
  if (!isNext && watched.origin !== undefined) watchers.resetRemote(sessionId);
  Object.assign(watched, { origin: from, number });
  if (type === "message" && typeof detail === "string")
    watchers.notifyRemote(sessionId, { type: "message", runId: detail });
  if (type === "so_far" && detail === origin && watched.deltas === "backlog") passOn(more);
  if (type === "live" && watched.deltas !== "partial") {
    watched.deltas = "all";
    passOn([detail, ...more]);
  }
  if (type === "joined" && detail === origin && watched.deltas === "partial") {
    watched.deltas = "backlog";
    watchers.expectRemote(sessionId);
  }
  if (type !== "facts") return;
  watched.deltas = "all";
  if (typeof detail === "number") watched.seq = detail;
  watchers.notifyRemote(sessionId, { type: "facts" });
}

/** Parses a message; empty if another program sent it. */
export function parseMessage(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
