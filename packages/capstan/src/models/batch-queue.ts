import type { Chunk } from "../model.ts";

type Read = IteratorResult<readonly Chunk[]>;

/** Hands on what is said as it is said, with one promise for each read. What nobody has read yet is one batch. */
export type BatchQueue = AsyncIterableIterator<readonly Chunk[]> & {
  push(batch: readonly Chunk[]): void;
  /** Ends the reading once all that was said is read; with an error, by throwing it. */
  end(error?: unknown): void;
};

/** `stop` is called when the reader goes before the end. */
export function batchQueue(stop: () => void): BatchQueue {
  let unread: Chunk[] = [];
  let waiting: PromiseWithResolvers<Read> | undefined;
  let ending: { readonly error?: unknown } | undefined;

  function ended(): Promise<Read> {
    return ending && "error" in ending
      ? Promise.reject(ending.error)
      : Promise.resolve({ done: true, value: undefined });
  }
  return {
    push(batch) {
      if (batch.length === 0) return;
      if (waiting) {
        const { resolve } = waiting;
        waiting = undefined;
        resolve({ done: false, value: batch });
      } else for (const chunk of batch) unread.push(chunk);
    },
    end(...error) {
      ending = error.length === 0 ? {} : { error: error[0] };
      if (waiting) waiting.resolve(ended() as Promise<never>);
    },
    next() {
      if (unread.length > 0) {
        const value = unread;
        unread = [];
        return Promise.resolve({ done: false, value });
      }
      if (ending) return ended();
      waiting = Promise.withResolvers();
      return waiting.promise;
    },
    async return() {
      stop();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
