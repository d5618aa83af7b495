import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

type Sent = {
  readonly id: string;
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
};

type Limits = { readonly most?: number; readonly mostCharacters?: number };

/**
 * What a session has sent, so that a client whose connection broke can have the rest: the last thousand messages and
 * four million characters. A client that has missed more is told so, instead of being given a stream with a hole.
 */
export function boundedEvents(limits: Limits = {}): EventStore {
  const { most = 1000, mostCharacters = 4_000_000 } = limits;
  const events = new Map<string, Sent>();
  let count = 0;
  let characters = 0;

  function forgetOldest(): void {
    while (events.size > most || (characters > mostCharacters && events.size > 1)) {
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
      forgetOldest();
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.get(id)?.streamId;
    },
    async replayEventsAfter(lastId, { send }) {
      const last = events.get(lastId);
      if (!last) throw new Error(`The event "${lastId}" is no longer kept.`);
      const later = [...events.values()].filter(
        ({ id, streamId }) => streamId === last.streamId && Number(id) > Number(lastId),
      );
      // What opens a stream says nothing, and says it once.
      for (const { id, message } of later) if ("jsonrpc" in message) await send(id, message);
      return last.streamId;
    },
  };
}
