import type { BusSubscription, DeltaBus } from "../../buses/delta-bus.ts";
import type { Store } from "../../runtime/store.ts";
import { splitDeltas } from "../delta-buffer.ts";
import type { Watchers } from "../watchers.ts";
import { createWorkWatchers } from "../watchers.ts";
import type { Database } from "./database.ts";
import { createOutbox } from "./outbox.ts";
import { createWatchedSessions, parseMessage } from "./watched-sessions.ts";

type NoticesOptions = {
  readonly database: Database;
  readonly schema: string;
  readonly bus: DeltaBus;
  readonly watchers: Watchers;
};

/** Notices between the processes that share the database. They are sent after a write is committed, on the bus. */
export interface Notices extends Pick<Store, "publish" | "watch">, Required<Pick<Store, "watchWork">> {
  /** Called when facts are stored, up to position `seq`, if it is known. */
  onFacts(sessionId: string, seq?: number): void;
  onMessage(sessionId: string, runId: string): void;
  /** Called when this process no longer writes to the session. */
  onRelease(sessionId: string): void;
  onWork(): void;
  close(): Promise<void>;
}

/** Watchers learn about a change at the latest after this long, if its notice was lost. */
const pollMs = 2_000;
const workTopic = "work";
const toTopic = (sessionId: string): string => `session ${sessionId}`;

export function createNotices({ watchers, ...options }: NoticesOptions): Notices {
  const { bus } = options;
  const origin = crypto.randomUUID();
  const outbox = createOutbox({ origin, bus });
  /** The sessions that this process writes to: it has their deltas since the last fact. */
  const writtenSessions = new Set<string>();
  const unfollow = new Map<string, () => void>();
  const sessions = createWatchedSessions({
    ...{ ...options, watchers, origin, toTopic },
    onFollow(sessionId) {
      if (!writtenSessions.has(sessionId)) outbox.add(toTopic(sessionId), ["join"]);
    },
    onJoin(sessionId, requester) {
      if (!writtenSessions.has(sessionId)) return;
      const deltas = splitDeltas(watchers.listDeltas(sessionId));
      outbox.add(toTopic(sessionId), ["joined", requester]);
      outbox.addDeltas(toTopic(sessionId), deltas, ["so_far", requester]);
    },
  });
  const poll = createPoll(() => sessions.checkPositions());

  return {
    ...createWorkNotices(bus, origin, () => outbox.add(workTopic, ["work"])),
    onFacts(sessionId, seq) {
      writtenSessions.add(sessionId);
      if (seq !== undefined) sessions.advance(sessionId, seq);
      watchers.notify(sessionId, { type: "facts" });
      outbox.add(toTopic(sessionId), ["facts", ...(seq === undefined ? [] : [seq])]);
    },
    onMessage(sessionId, runId) {
      watchers.notify(sessionId, { type: "message", runId });
      outbox.add(toTopic(sessionId), ["message", runId]);
    },
    onRelease: (sessionId) => void writtenSessions.delete(sessionId),
    publish(sessionId, deltas) {
      if (deltas.length === 0) return;
      writtenSessions.add(sessionId);
      watchers.publish(sessionId, deltas);
      outbox.addDeltas(toTopic(sessionId), deltas);
    },
    watch(sessionId, onNotice) {
      const unwatch = watchers.watch(sessionId, onNotice);
      if (!unfollow.has(sessionId)) unfollow.set(sessionId, sessions.follow(sessionId));
      poll.start();
      return () => {
        unwatch();
        if (watchers.isWatched(sessionId)) return;
        unfollow.get(sessionId)?.();
        unfollow.delete(sessionId);
        if (unfollow.size === 0) poll.stop();
      };
    },
    async close() {
      poll.stop();
      await outbox.flush();
      sessions.close();
    },
  };
}

/** Tells the engines of all processes that there is work. `send` reaches the other processes. */
function createWorkNotices(
  bus: DeltaBus,
  origin: string,
  send: () => void,
): Pick<Notices, "onWork" | "watchWork"> {
  const watchers = createWorkWatchers();
  let subscription: BusSubscription | undefined;
  let count = 0;
  return {
    onWork() {
      watchers.notify();
      send();
    },
    watchWork(onWork) {
      const unwatch = watchers.watchWork(onWork);
      count += 1;
      subscription ??= bus.subscribe(workTopic, (text) => {
        if (parseMessage(text)[0] !== origin) watchers.notify();
      });
      return () => {
        unwatch();
        count -= 1;
        if (count > 0) return;
        subscription?.close();
        subscription = undefined;
      };
    },
  };
}

/** Repeats a check from `start` to `stop`, one at a time. */
function createPoll(check: () => Promise<void>): { start(): void; stop(): void } {
  let interval: ReturnType<typeof setInterval> | undefined;
  let isChecking = false;
  function poll(): void {
    if (isChecking) return;
    isChecking = true;
    check()
      .catch(() => undefined) // the next poll tries again
      .finally(() => {
        isChecking = false;
      });
  }
  return {
    start() {
      interval ??= setInterval(poll, pollMs);
      if (typeof interval === "object" && "unref" in interval) interval.unref();
    },
    stop() {
      clearInterval(interval);
      interval = undefined;
    },
  };
}
