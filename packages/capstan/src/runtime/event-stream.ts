import { type Event, isFact } from "../kernel/event.ts";

/** Number of unread events after which the unread deltas of a reader are merged. */
const maxUnread = 1024;

/**
 * The events of one segment of a run, for any number of readers. A late reader gets the facts it missed. A slow reader
 * never slows the run: its unread deltas of the same kind are merged, so that its buffer is bounded by the run's own data.
 */
export interface EventStream {
  push(event: Event): void;
  /** Ends every reader after the events pushed so far; with `error`, by throwing it. */
  end(error?: unknown): void;
  read(): AsyncIterableIterator<Event>;
  hasReaders(): boolean;
  /** Resolves when every reader has consumed all events and waits for the next. */
  drained(): Promise<void>;
  /** Lets `drained` not wait for readers that are handling an event, until they ask for the next one. */
  skipBusyReaders(): void;
}

type PendingRead = { resolve(read: IteratorResult<Event>): void; reject(error: unknown): void };

type Reader = {
  queue: Event[];
  hasStarted: boolean;
  /** Whether the run may suspend while the reader handles an event. */
  isSkipped: boolean;
  pendingRead: PendingRead | undefined;
};

export function createEventStream(): EventStream {
  const facts: Event[] = [];
  const readers = new Set<Reader>();
  let ended: { readonly error?: unknown } | undefined;
  let waiters: (() => void)[] = [];

  const isDrained = () =>
    [...readers].every(
      (reader) => reader.pendingRead !== undefined || !reader.hasStarted || reader.isSkipped,
    );
  function notify(): void {
    if (waiters.length === 0 || !isDrained()) return;
    for (const resolve of waiters) resolve();
    waiters = [];
  }
  function take(reader: Reader): Promise<IteratorResult<Event>> {
    reader.hasStarted = true;
    reader.isSkipped = false;
    const event = reader.queue.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (ended) {
      readers.delete(reader);
      return "error" in ended
        ? Promise.reject(ended.error)
        : Promise.resolve({ done: true, value: undefined });
    }
    const read = new Promise<IteratorResult<Event>>((resolve, reject) => {
      reader.pendingRead = { resolve, reject };
    });
    notify();
    return read;
  }

  return {
    push(event) {
      if (isFact(event)) facts.push(event);
      for (const reader of readers) deliver(reader, event);
    },
    end(error) {
      ended = error === undefined ? {} : { error };
      for (const reader of readers) {
        const { pendingRead } = reader;
        if (!pendingRead) continue;
        reader.pendingRead = undefined;
        readers.delete(reader);
        if (error === undefined) pendingRead.resolve({ done: true, value: undefined });
        else pendingRead.reject(error);
      }
    },
    read() {
      const reader: Reader = {
        queue: [...facts],
        hasStarted: false,
        isSkipped: false,
        pendingRead: undefined,
      };
      readers.add(reader);
      return {
        next: () => take(reader),
        async return() {
          readers.delete(reader);
          reader.pendingRead?.resolve({ done: true, value: undefined });
          notify();
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
    hasReaders: () => readers.size > 0,
    skipBusyReaders() {
      for (const reader of readers) reader.isSkipped = reader.hasStarted && reader.pendingRead === undefined;
      notify();
    },
    drained: () => (isDrained() ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}

function deliver(reader: Reader, event: Event): void {
  if (reader.pendingRead) {
    const { resolve } = reader.pendingRead;
    reader.pendingRead = undefined;
    resolve({ done: false, value: event });
    return;
  }
  if (reader.queue.length < maxUnread || !mergeUnread(reader.queue, event)) reader.queue.push(event);
}

/** Merges a delta into an unread one of its kind, but never across a fact or a restart, which voids the text before it. */
function mergeUnread(queue: Event[], event: Event): boolean {
  for (let index = queue.length - 1; index >= 0; index--) {
    const unread = queue[index];
    if (!unread || isFact(unread) || unread.type === "message_restart") return false;
    const merged = mergeDeltas(unread, event);
    if (!merged) continue;
    queue[index] = merged;
    return true;
  }
  return false;
}

function mergeDeltas(unread: Event, event: Event): Event | undefined {
  if (unread.runId !== event.runId) return undefined;
  if (unread.type !== event.type || ("id" in unread && "id" in event && unread.id !== event.id))
    return undefined;
  if (event.type === "tool_progress") return event; // the newest progress replaces the earlier one
  return "delta" in unread && "delta" in event ? { ...event, delta: unread.delta + event.delta } : undefined;
}
