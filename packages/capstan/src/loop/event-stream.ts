import { type Event, isFact } from "../event.ts";

/** Events that a reader may be behind before the deltas it has not read are made one. */
const mostBehind = 1024;

/**
 * The events of one leg of a run, for any number of readers. A reader that comes late gets the facts it missed.
 * A slow reader never slows the run: its unread deltas of a kind are joined, so that what is kept for it is bounded
 * by what the run itself holds.
 */
export interface EventStream {
  push(event: Event): void;
  /** Ends every reader once it has read what was pushed; with `error`, by throwing it. */
  end(error?: unknown): void;
  read(): AsyncIterableIterator<Event>;
  /** Resolves when every reader has come back for more than there is. */
  drained(): Promise<void>;
}

type Reader = {
  queue: Event[];
  begun: boolean;
  parked: PromiseWithResolvers<IteratorResult<Event>> | undefined;
};

export function eventStream(): EventStream {
  const facts: Event[] = [];
  const readers = new Set<Reader>();
  let ending: { readonly error?: unknown } | undefined;
  let waiters: (() => void)[] = [];

  const isDrained = () => [...readers].every((reader) => reader.parked !== undefined || !reader.begun);
  function notify(): void {
    if (waiters.length === 0 || !isDrained()) return;
    for (const resolve of waiters) resolve();
    waiters = [];
  }
  function take(reader: Reader): Promise<IteratorResult<Event>> {
    reader.begun = true;
    const event = reader.queue.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (ending) {
      readers.delete(reader);
      return "error" in ending
        ? Promise.reject(ending.error)
        : Promise.resolve({ done: true, value: undefined });
    }
    reader.parked = Promise.withResolvers();
    notify();
    return reader.parked.promise;
  }

  return {
    push(event) {
      if (isFact(event)) facts.push(event);
      for (const reader of readers) deliver(reader, event);
    },
    end(error) {
      ending = error === undefined ? {} : { error };
      for (const reader of readers) {
        const { parked } = reader;
        if (!parked) continue;
        reader.parked = undefined;
        readers.delete(reader);
        if (error === undefined) parked.resolve({ done: true, value: undefined });
        else parked.reject(error);
      }
    },
    read() {
      const reader: Reader = { queue: [...facts], begun: false, parked: undefined };
      readers.add(reader);
      return {
        next: () => take(reader),
        async return() {
          readers.delete(reader);
          reader.parked?.resolve({ done: true, value: undefined });
          notify();
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
    drained: () => (isDrained() ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}

function deliver(reader: Reader, event: Event): void {
  if (reader.parked) {
    const { resolve } = reader.parked;
    reader.parked = undefined;
    resolve({ done: false, value: event });
    return;
  }
  if (reader.queue.length < mostBehind || !joinUnread(reader.queue, event)) reader.queue.push(event);
}

/** Joins a delta with an unread one of its kind. Nothing is moved across a fact, nor across a restart, which voids what is before it. */
function joinUnread(queue: Event[], event: Event): boolean {
  for (let index = queue.length - 1; index >= 0; index--) {
    const unread = queue[index];
    if (!unread || isFact(unread) || unread.type === "message_restart") return false;
    const joined = join(unread, event);
    if (!joined) continue;
    queue[index] = joined;
    return true;
  }
  return false;
}

function join(unread: Event, event: Event): Event | undefined {
  if (unread.runId !== event.runId) return undefined;
  if (unread.type !== event.type || ("id" in unread && "id" in event && unread.id !== event.id))
    return undefined;
  if (event.type === "tool_progress") return event; // the newest says it all
  return "delta" in unread && "delta" in event ? { ...event, delta: unread.delta + event.delta } : undefined;
}
