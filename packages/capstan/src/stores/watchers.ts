import type { Store, StoreNotice } from "../store.ts";
import { saidSoFar } from "./delta-buffer.ts";

/** Those in this process who want to hear of sessions. Who begins in the middle of a message is told its beginning. */
export interface Watchers extends Pick<Store, "publish" | "watch"> {
  tell(sessionId: string, news: Exclude<StoreNotice, { type: "deltas" }>): void;
  /** Tells what another process has said. */
  relay(sessionId: string, news: StoreNotice): void;
  /** Something that other processes said may have been missed. */
  missed(): void;
  /** The session is gone. */
  forget(sessionId: string): void;
  /** The sessions that somebody watches. */
  sessions(): Iterable<string>;
}

export function watchers(): Watchers {
  const hearing = new Map<string, Set<(news: StoreNotice) => void>>();
  const soFar = saidSoFar();

  function tellAll(sessionId: string, news: StoreNotice): void {
    for (const hear of hearing.get(sessionId) ?? []) attempt(hear, news);
  }

  return {
    tell(sessionId, news) {
      if (news.type === "facts") soFar.settle(sessionId);
      tellAll(sessionId, news);
    },
    relay(sessionId, news) {
      if (news.type === "facts") soFar.expect(sessionId);
      if (news.type === "deltas") soFar.relay(sessionId, news.deltas);
      tellAll(sessionId, news);
    },
    missed: soFar.forgetOthers,
    forget: soFar.forget,
    sessions: () => hearing.keys(),
    publish(sessionId, pieces) {
      if (pieces.length === 0) return;
      soFar.add(sessionId, pieces);
      if (hearing.has(sessionId)) tellAll(sessionId, { type: "deltas", deltas: pieces });
    },
    watch(sessionId, hear) {
      const own = (news: StoreNotice) => hear(news); // the same function may watch twice
      const pieces = soFar.of(sessionId);
      const all = hearing.get(sessionId) ?? new Set();
      hearing.set(sessionId, all.add(own));
      if (pieces.length > 0) attempt(own, { type: "deltas", deltas: pieces });
      return () => {
        all.delete(own);
        if (all.size === 0 && hearing.get(sessionId) === all) hearing.delete(sessionId);
      };
    },
  };
}

/** Who listens must not be able to harm who writes. */
function attempt(hear: (news: StoreNotice) => void, news: StoreNotice): void {
  try {
    hear(news);
  } catch {
    // It is their own failure.
  }
}
