import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

type StoredEvent = {
  readonly id: string;
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
};

type EventStoreLimits = { readonly maxEvents?: number; readonly maxCharacters?: number };

/**
 * Stores the last messages of a session, so that a client can resume a broken stream: up to 1,000 messages and 4,000,000
 * characters. A client that missed more gets an error instead of a stream with a gap.
 */
export function createEventStore(limits: EventStoreLimits = {}): EventStore {
  const { maxEvents = 1000, maxCharacters = 4_000_000 } = limits;
  const events = new Map<string, StoredEvent>();
  let count = 0;
  let characters = 0;

  function evictOldest(): void {
    while (events.size > maxEvents || (characters > maxCharacters && events.size > 1)) {
      const [oldest] = events.values();
      if (!oldest) return;
      events.delete(oldest.id);
      characters -= oldest.size;
    }
  }

  return {
    async storeEvent(streamId, message) {
      count += 1;
      const id = String(count);
      const size = JSON.stringify(message).length;
      events.set(id, { id, streamId, message, size });
      characters += size;
      evictOldest();
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.get(id)?.streamId;
    },
    async replayEventsAfter(lastId, { send }) {
      const last = events.get(lastId);
      if (!last) throw new Error(`The event "${lastId}" is no longer available.`);
      const later = [...events.values()].filter(
        ({ id, streamId }) => streamId === last.streamId && Number(id) > Number(lastId),
      );
      // The event that opens a stream is empty and is not repeated.
      for (const { id, message } of later) if ("jsonrpc" in message) await send(id, message);
      return last.streamId;
    },
  };
}
