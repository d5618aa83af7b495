import { AgentError, describeThrown } from "../base/errors.ts";
import type { FactBody } from "../kernel/event.ts";
import { checkArrival, type Message, type MessageContext, toFacts, validateMessage } from "./messages.ts";
import type { Store } from "./store.ts";

/** A message in the queue. A message from the store has a key and is acknowledged there. */
export type QueuedMessage = Message & { readonly key?: string };

/** The facts of the delivered messages, the problems of rejected ones, and the keys to acknowledge in the store. */
export type DeliveredMessages = {
  readonly facts: readonly FactBody[];
  readonly problems: readonly unknown[];
  readonly keys: readonly string[];
};

/** Messages sent to the run that it has not processed yet. */
export interface Inbox {
  /**
   * Adds a message. `onRejected` is called when the run cannot accept it. Throws `run_ended` once the inbox is closed; a
   * `retry` opens it again.
   */
  put(message: QueuedMessage, onRejected?: () => void): void;
  /** Takes all queued messages and turns them into facts. */
  take(context: MessageContext): Promise<DeliveredMessages>;
  isEmpty(): boolean;
  whenNotEmpty(): Promise<void>;
  /** Rejects further messages, because the run is ending. */
  close(): void;
  reopen(): void;
  isClosed(): boolean;
}

type QueueEntry = { readonly message: QueuedMessage; readonly onRejected?: (() => void) | undefined };

export function createInbox(): Inbox {
  let queue: QueueEntry[] = [];
  /** Created when it is waited for. */
  let notEmpty: PromiseWithResolvers<void> | undefined;
  let isClosed = false;
  return {
    put(message, onRejected) {
      if (message.type === "retry") isClosed = false;
      if (isClosed) throw new AgentError("run_ended", "The run has ended. Start a new run in its session.");
      // A message that was queued when the run was released is delivered again by the store.
      const isQueued = message.key !== undefined && queue.some((entry) => entry.message.key === message.key);
      if (!isQueued) queue.push({ message, onRejected });
      notEmpty?.resolve();
    },
    async take(context) {
      const { done } = context.run;
      // An ended run accepts nothing but a retry: earlier messages came too late, later ones are for the reopened run.
      const retryIndex = done ? queue.findIndex(({ message }) => message.type === "retry") : -1;
      const entries = retryIndex === -1 ? queue : queue.slice(0, retryIndex + 1);
      queue = queue.slice(entries.length);
      if (queue.length === 0) notEmpty = undefined;
      const facts: FactBody[] = [];
      const problems: unknown[] = [];
      const keys: string[] = [];
      const isReopened = retryIndex !== -1 && done?.canRetry && !context.isOutdated;
      for (const { message: sent, onRejected } of entries) {
        const { key } = sent;
        if (key !== undefined) {
          if (done && !isReopened) continue; // only `retried` may follow `done`
          keys.push(key);
          if (done && sent.type !== "retry") continue;
        }
        try {
          const { message, late } = checkArrival(sent, context);
          await validateMessage(message, context);
          const added = toFacts(message, context);
          // A stored message leaves a fact in any case: without one it would be delivered again after a crash.
          facts.push(...(key !== undefined && added.length === 0 ? [ignore("It changes nothing.")] : added));
          if (late) onRejected?.();
          if (late && key === undefined) problems.push(late);
        } catch (problem) {
          onRejected?.();
          if (key === undefined) problems.push(problem);
          else facts.push(ignore(describeThrown(problem, "invalid_input").message));
        }
      }
      return { facts, problems, keys };
    },
    isEmpty: () => queue.length === 0,
    whenNotEmpty() {
      if (queue.length > 0) return Promise.resolve();
      notEmpty ??= Promise.withResolvers();
      return notEmpty.promise;
    },
    close() {
      isClosed = true;
    },
    reopen() {
      isClosed = false;
    },
    isClosed: () => isClosed,
  };
}

function ignore(reason: string): FactBody {
  return { type: "warning", code: "message_ignored", message: `Message ignored: ${reason}` };
}

export type SyncInboxOptions = {
  readonly store: Store;
  readonly sessionId: string;
  readonly runId: string;
  readonly inbox: Inbox;
  /** Aborts the effects in flight when a cancel message arrives. */
  abort(reason: string | undefined): void;
};

/** Copies messages for the run from the store into its inbox while this process executes the run. */
export interface InboxSync {
  /** Reads the store now. Otherwise it is read when the store announces a message. */
  pull(): Promise<void>;
  /** Repeats a pull that failed; this time a failure rejects. */
  retryPull(): Promise<void>;
  close(): void;
}

export function syncInbox({ store, sessionId, runId, inbox, abort }: SyncInboxOptions): InboxSync {
  const knownKeys = new Set<string>();
  let isOpen = true;
  let needsPull = false;

  async function pull(): Promise<void> {
    for (const message of await store.listMessages(runId)) {
      // A slow read may return messages that another process has acknowledged meanwhile.
      if (!isOpen || knownKeys.has(message.key) || inbox.isClosed()) continue;
      knownKeys.add(message.key);
      inbox.put(message);
      if (message.type === "cancel") abort(message.reason);
    }
  }

  const unwatch = store.watch(sessionId, (notice) => {
    if (notice.type !== "message" || notice.runId !== runId) return;
    pull().catch(() => {
      needsPull = true;
    });
  });
  return {
    pull,
    async retryPull() {
      while (needsPull) {
        needsPull = false;
        await pull();
      }
    },
    close() {
      isOpen = false;
      unwatch();
    },
  };
}
