import type { Agents } from "../agent.ts";
import type { RunMessage, Store } from "../store.ts";
import { answering, cancelling, type Inbox, type Message, resolving, steering } from "./inbox.ts";

export type MailboxOptions = {
  readonly store: Store;
  readonly sessionId: string;
  readonly runId: string;
  readonly agents: Agents;
  readonly inbox: Inbox;
  /** Stops what is in flight. */
  abort(reason: string): void;
};

/** Brings what a run is told through its store to its inbox, while somebody is at work on it. */
export interface Mailbox {
  /** Looks now; otherwise it looks when the store says that there is something. */
  pull(): Promise<void>;
  /** Looks again if it could not the last time; now its failure counts. */
  catchUp(): Promise<void>;
  close(): void;
}

export function openMailbox({ store, sessionId, runId, agents, inbox, abort }: MailboxOptions): Mailbox {
  const known = new Set<string>();
  let isOpen = true;
  let isBehind = false;

  async function pull(): Promise<void> {
    for (const told of await store.listMessages(runId)) {
      // A look that comes back late has seen what others have heard since.
      if (!isOpen || known.has(told.key) || inbox.isClosed()) continue;
      known.add(told.key);
      inbox.put(messageOf(told, agents));
      if (told.type === "cancel") abort(told.reason ?? defaultReason);
    }
  }

  const unwatch = store.watch(sessionId, (news) => {
    if (news.type !== "message" || news.runId !== runId) return;
    pull().catch(() => {
      isBehind = true;
    });
  });
  return {
    pull,
    async catchUp() {
      while (isBehind) {
        isBehind = false;
        await pull();
      }
    },
    close() {
      isOpen = false;
      unwatch();
    },
  };
}

const defaultReason = "The run was cancelled.";

/** What it means to the run. */
export function messageOf(told: RunMessage, agents: Agents): Message {
  return { ...contentOf(told, agents), key: told.key };
}

function contentOf(told: RunMessage, agents: Agents): Message {
  switch (told.type) {
    case "steer":
      return steering(told.text);
    case "cancel":
      return cancelling(told.reason ?? defaultReason);
    case "approve":
      return resolving(agents, told.callId, {
        approved: true,
        ...(told.value !== undefined && { value: told.value }),
      });
    case "deny":
      return resolving(agents, told.callId, {
        approved: false,
        ...(told.reason !== undefined && { reason: told.reason }),
      });
    case "result":
      return answering(agents, told.callId, told.value);
  }
}
