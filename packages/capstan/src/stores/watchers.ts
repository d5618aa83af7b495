import type { News, Store } from "../store.ts";

/** Those in this process who want to hear of sessions. */
export interface Watchers extends Pick<Store, "publish" | "watch"> {
  tell(sessionId: string, news: News): void;
  /** The sessions that somebody watches. */
  sessions(): Iterable<string>;
}

export function watchers(): Watchers {
  const hearing = new Map<string, Set<(news: News) => void>>();

  function tell(sessionId: string, news: News): void {
    for (const hear of hearing.get(sessionId) ?? []) {
      try {
        hear(news);
      } catch {
        // Who listens must not be able to harm who writes.
      }
    }
  }

  return {
    tell,
    sessions: () => hearing.keys(),
    publish(sessionId, pieces) {
      if (pieces.length > 0) tell(sessionId, { type: "live", pieces });
    },
    watch(sessionId, hear) {
      const own = (news: News) => hear(news); // the same function may watch twice
      const all = hearing.get(sessionId) ?? new Set();
      hearing.set(sessionId, all.add(own));
      return () => {
        all.delete(own);
        if (all.size === 0 && hearing.get(sessionId) === all) hearing.delete(sessionId);
      };
    },
  };
}
