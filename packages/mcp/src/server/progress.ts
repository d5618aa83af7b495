import type { ServerContext } from "@modelcontextprotocol/server";
import type { Event } from "capstan";

/** Tells a client how far a run has come. */
export type Progress = {
  onEvent(event: Event): void;
  /** How many have been told, for the next request of the same call to count on from. */
  count(): number;
  /** Resolves when all have been sent: nothing may follow an answer. */
  sent(): Promise<void>;
};

/** One notification per turn and per tool call, for a client that gave a token; its number only grows. */
export function progress({ mcpReq }: ServerContext, from = 0): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  let count = from;
  let queue: Promise<unknown> = Promise.resolve();

  function tell(message: string): void {
    count += 1;
    if (progressToken === undefined) return;
    const params = { progressToken, progress: count, message };
    // A client that has gone misses it; the run ends by its signal, not by this.
    queue = queue
      .then(() => mcpReq.notify({ method: "notifications/progress", params }))
      .catch(() => undefined);
  }

  return {
    onEvent(event) {
      if (event.type === "turn_start") tell(`Turn ${event.turn}`);
      if (event.type === "tool_call_start") tell(`calling ${event.name}`);
    },
    count: () => count,
    async sent() {
      await queue;
    },
  };
}
