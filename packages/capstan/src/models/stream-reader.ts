import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AgentError } from "../errors.ts";
import type { Chunk } from "../model.ts";
import type { Wire } from "./wire.ts";

/** Larger pieces of a stream are refused before they fill the memory. */
const mostCharactersPerEvent = 8_000_000;

/** Makes batches of chunks of the bytes of an answer. */
export type AnswerReader = {
  /** All that one read from the network says, parsed at once: no promise per token. */
  read(bytes: Uint8Array): readonly Chunk[];
  /** What is left to say when there are no more bytes. */
  end(): readonly Chunk[];
};

/** Of an answer in server-sent events. */
export function streamedAnswer(wire: Wire): AnswerReader {
  const events = wire.reader();
  const decoder = new TextDecoder();
  let batch: Chunk[] = [];
  const parser = createParser({
    onEvent(event: EventSourceMessage) {
      for (const chunk of events.read(event)) batch.push(chunk);
    },
    maxBufferSize: mostCharactersPerEvent,
    onError(cause) {
      if (cause.type === "max-buffer-size-exceeded")
        throw new AgentError("chunk_too_large", "One piece of the stream is larger than 8 MB.", { cause });
    },
  });
  function fed(text: string): readonly Chunk[] {
    batch = [];
    parser.feed(text);
    return batch;
  }
  return {
    read: (bytes) => fed(decoder.decode(bytes, { stream: true })),
    // The last event may lack its empty line.
    end: () => fed(`${decoder.decode()}\n\n`),
  };
}

/** Of an answer that is one JSON text. */
export function wholeAnswer(wire: Wire): AnswerReader {
  const decoder = new TextDecoder();
  let text = "";
  return {
    read(bytes) {
      text += decoder.decode(bytes, { stream: true });
      return [];
    },
    end() {
      try {
        return wire.fromJson(JSON.parse(text + decoder.decode()));
      } catch (cause) {
        if (cause instanceof AgentError) throw cause;
        throw new AgentError("bad_chunk", "The provider's answer is not JSON.", { cause });
      }
    },
  };
}

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
