import type { SegmentRequest } from "../engines/scheduled-engine.ts";

export type LocalScheduler = {
  schedule(request: SegmentRequest): Promise<void>;
  /** Stops executing. Requests that are waiting are dropped. */
  close(): Promise<void>;
};

/**
 * Schedules segments in this process, as a durable executor does: one at a time per session, again after a failure, each
 * key once while it waits.
 */
export function createLocalScheduler(execute: (request: SegmentRequest) => Promise<unknown>): LocalScheduler {
  const queues = new Map<string, Promise<void>>();
  const waiting = new Set<string>();
  let isClosed = false;

  async function executeUntilDone(request: SegmentRequest): Promise<void> {
    const { at = 0, key } = request;
    const delayMs = Math.max(0, at - Date.now());
    for (let pauseMs = delayMs; !isClosed; pauseMs = 20) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      waiting.delete(key);
      try {
        if (!isClosed) await execute(request);
        return;
      } catch {
        // tried again after a pause
      }
    }
  }

  return {
    async schedule(request) {
      if (waiting.has(request.key)) return;
      waiting.add(request.key);
      const before = request.at === undefined ? queues.get(request.sessionId) : undefined;
      const done = (before ?? Promise.resolve()).then(() => executeUntilDone(request));
      if (request.at === undefined) queues.set(request.sessionId, done);
    },
    async close() {
      isClosed = true;
    },
  };
}
