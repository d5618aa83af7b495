import { AgentError } from "capstan";

/**
 * A request that is being answered. While its body is read, it counts for its sender instead of for the process: a body
 * can take its time, and one sender must not use up the capacity of all.
 */
export interface OpenRequest {
  /** Throws `rate_limited` if the server reads too many bodies of this sender. Without a sender, nothing is limited. */
  startReading(sender: string | undefined): void;
  /** Called when the body was read. */
  endReading(): void;
  end(): void;
}

/** The requests that a process is answering. */
export interface OpenRequests {
  add(): OpenRequest;
  /** Returns the number of requests, without those whose body is being read. */
  count(): number;
}

/** Bodies of one sender that are read at the same time. */
const maxUnreadBodies = 250;
const retryAfterMs = 1000;

export function createOpenRequests(): OpenRequests {
  const unreadBodies = new Map<string, number>();
  let requests = 0;

  function countRequest(): () => void {
    requests += 1;
    return () => {
      requests -= 1;
    };
  }
  function countBody(sender: string): () => void {
    const count = unreadBodies.get(sender) ?? 0;
    if (count >= maxUnreadBodies) {
      const message = `The bodies of ${count} of your requests are incomplete, which is the limit. Send them first.`;
      throw new AgentError("rate_limited", message, { retryAfterMs });
    }
    unreadBodies.set(sender, count + 1);
    return () => {
      const remaining = (unreadBodies.get(sender) ?? 1) - 1;
      if (remaining === 0) unreadBodies.delete(sender);
      else unreadBodies.set(sender, remaining);
    };
  }

  return {
    count: () => requests,
    add() {
      let release = countRequest();
      return {
        startReading(sender) {
          const releaseBody = sender === undefined ? () => undefined : countBody(sender);
          release();
          release = releaseBody;
        },
        endReading() {
          release();
          release = countRequest();
        },
        end: () => release(),
      };
    },
  };
}
