import type { SessionWatch } from "capstan/client";

type HistoryWatch = Pick<SessionWatch, "view" | "facts" | "subscribe">;

/** Larger batches are history that is still loading. */
const historyBatchSize = 150;
const historyIntervalMs = 120;

/** Throttles notifications while a long session is loading. The first is immediate: nothing may follow it. */
export function throttleHistory(watch: HistoryWatch): SessionWatch["subscribe"] {
  return (listener) => {
    let notifiedCount = watch.facts().length;
    let notifiedAt = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout> | undefined;
    function notify(): void {
      clearTimeout(timer);
      timer = undefined;
      notifiedAt = performance.now();
      notifiedCount = watch.facts().length;
      listener();
    }
    const unsubscribe = watch.subscribe(() => {
      // Fold incrementally, so that little work is left for rendering.
      watch.view();
      const waitMs = notifiedAt + historyIntervalMs - performance.now();
      if (watch.facts().length - notifiedCount < historyBatchSize || waitMs <= 0) notify();
      else timer ??= setTimeout(notify, waitMs);
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  };
}
