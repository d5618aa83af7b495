import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { AgentError } from "../base/errors.ts";
import type { HostedToolSpec } from "../kernel/hosted-tool.ts";
import type { Chunk } from "../kernel/model.ts";
import type { EventShapes, ShapedEvent } from "./event-shapes.ts";
import type { Wire } from "./wire.ts";

/** Longer events are rejected before they fill the memory. */
export const maxEventLength = 8_000_000;

/** Converts the bytes of a response into batches of chunks. */
export type ResponseReader = {
  /** Parses one network read in one go, without a promise per token. */
  read(bytes: Uint8Array): readonly Chunk[];
  /** Returns the remaining chunks after the last byte. */
  end(): readonly Chunk[];
};

/** Creates a reader for a response of server-sent events. */
export function createSseReader(wire: Wire, hosted?: readonly HostedToolSpec[]): ResponseReader {
  const events = wire.reader(hosted);
  const decoder = new TextDecoder();
  let batch: Chunk[] = [];
  const parser = createParser({
    onEvent(event: EventSourceMessage) {
      for (const chunk of events.read(event)) batch.push(chunk);
    },
    maxBufferSize: maxEventLength,
    onError(cause) {
      if (cause.type === "max-buffer-size-exceeded")
        throw new AgentError("chunk_too_large", "A stream event is larger than 8 MB.", { cause });
    },
  });
  const { repeated } = events;
  const feed = repeated
    ? createShapedFeed(parser, repeated.shapes, ({ value, event }) => repeated.read(value, event, batch))
    : parser.feed;
  function parseText(text: string): readonly Chunk[] {
    batch = [];
    feed(text);
    return batch;
  }
  return {
    read: (bytes) => parseText(decoder.decode(bytes, { stream: true })),
    // The last event may lack its trailing empty line.
    end: () => parseText(`${decoder.decode()}\n\n`),
  };
}

/** In a shorter stream, few events are repeated: the parser reads it at once. */
const minShapedLength = 8_000;
/**
 * A stream learns its first shape from the eighth event of an unknown one, then one of every 16 such events: learning costs
 * more than parsing, and an event among known ones, such as the head of a call, is hardly ever repeated.
 */
const eventsPerShape = 16;
const firstLearned = 8;

/** Reads events of a known shape in place. Feeds the others to the parser, and learns their shapes. */
function createShapedFeed(
  parser: Pick<EventSourceParser, "feed">,
  shapes: EventShapes,
  onEvent: (event: ShapedEvent) => void,
): (text: string) => void {
  // False at the beginning, where a byte order mark may stand, and within an event that was split.
  let isBetweenEvents = false;
  let separator: string | undefined;
  let length = 0;
  let unknownEvents = eventsPerShape - firstLearned;
  return (text) => {
    // With another separator than this one, every event is parsed.
    separator ??= text.includes("\r\n") ? "\r\n\r\n" : text.includes("\n") ? "\n\n" : undefined;
    length += text.length;
    if (length < minShapedLength) {
      parser.feed(text);
      isBetweenEvents = separator !== undefined && text.endsWith(separator);
      return;
    }
    for (let at = 0; at < text.length; ) {
      const shaped = isBetweenEvents ? shapes.read(text, at) : undefined;
      if (shaped) {
        onEvent(shaped);
        at = shaped.end;
        continue;
      }
      const separatorAt = separator === undefined ? -1 : text.indexOf(separator, at);
      const end = separatorAt < 0 ? text.length : separatorAt + (separator?.length ?? 0);
      const part = text.slice(at, end);
      parser.feed(part);
      unknownEvents += 1;
      if (isBetweenEvents && separatorAt >= 0 && unknownEvents >= eventsPerShape) {
        shapes.learn(part);
        unknownEvents = 0;
      }
      isBetweenEvents = separatorAt >= 0;
      at = end;
    }
  };
}

/** Creates a reader for a single JSON response. */
export function createJsonReader(wire: Wire, hosted?: readonly HostedToolSpec[]): ResponseReader {
  const decoder = new TextDecoder();
  let text = "";
  return {
    read(bytes) {
      text += decoder.decode(bytes, { stream: true });
      return [];
    },
    end() {
      try {
        return wire.fromJson(JSON.parse(text + decoder.decode()), hosted);
      } catch (cause) {
        if (cause instanceof AgentError) throw cause;
        throw new AgentError("bad_chunk", "The provider's response is not JSON.", { cause });
      }
    },
  };
}

type BatchResult = IteratorResult<readonly Chunk[]>;

/** Passes batches from the network to the reader, with one promise per read. Unread chunks are merged into one batch. */
export type BatchQueue = AsyncIterableIterator<readonly Chunk[]> & {
  push(batch: readonly Chunk[]): void;
  /** Ends the iteration after all queued chunks are read; rejects the next read if an error is given. */
  end(error?: unknown): void;
};

/** `stop` is called when the reader returns before the end. */
export function createBatchQueue(stop: () => void): BatchQueue {
  let unread: Chunk[] = [];
  let pendingRead: PromiseWithResolvers<BatchResult> | undefined;
  let endState: { readonly error?: unknown } | undefined;

  function settleRead(): Promise<BatchResult> {
    return endState && "error" in endState
      ? Promise.reject(endState.error)
      : Promise.resolve({ done: true, value: undefined });
  }
  return {
    push(batch) {
      if (batch.length === 0) return;
      if (pendingRead) {
        const { resolve } = pendingRead;
        pendingRead = undefined;
        resolve({ done: false, value: batch });
      } else for (const chunk of batch) unread.push(chunk);
    },
    end(...error) {
      endState = error.length === 0 ? {} : { error: error[0] };
      if (pendingRead) pendingRead.resolve(settleRead() as Promise<never>);
    },
    next() {
      if (unread.length > 0) {
        const value = unread;
        unread = [];
        return Promise.resolve({ done: false, value });
      }
      if (endState) return settleRead();
      pendingRead = Promise.withResolvers();
      return pendingRead.promise;
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
