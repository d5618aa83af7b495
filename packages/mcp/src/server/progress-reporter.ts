import type { ServerContext } from "@modelcontextprotocol/server";
import type { Event } from "capstan";

/** Reports the progress of a run to a client. */
export type ProgressReporter = {
  onEvent(event: Event): void;
  /** Number of notifications so far. The next request of the same call continues from it. */
  count(): number;
  /** Resolves when all notifications are sent: none may follow the response. */
  flush(): Promise<void>;
};

/** Sends one notification per turn, tool call and failed attempt to a client that sent a progress token. The number only grows. */
export function createProgressReporter({ mcpReq }: ServerContext, from = 0): ProgressReporter {
  const progressToken = mcpReq._meta?.progressToken;
  let count = from;
  let queue: Promise<unknown> = Promise.resolve();

  function notify(message: string): void {
    count += 1;
    if (progressToken === undefined) return;
    const params = { progressToken, progress: count, message };
    // A disconnected client misses it; the run ends through its signal.
    queue = queue
      .then(() => mcpReq.notify({ method: "notifications/progress", params }))
      .catch(() => undefined);
  }

  return {
    onEvent(event) {
      if (event.type === "turn_start") notify(`Turn ${event.turn}`);
      if (event.type === "tool_call_start") notify(`calling ${event.name}`);
      if (event.type === "retry") notify(`attempt ${event.attempt} failed: ${event.code}`);
    },
    count: () => count,
    async flush() {
      await queue;
    },
  };
}
