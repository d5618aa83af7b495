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
