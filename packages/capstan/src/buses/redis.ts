import type { DeltaBus } from "./delta-bus.ts";

/** The members of a Redis client that publishes; compatible with `createClient` of redis 5 and 6. */
export interface RedisPublisher {
  publish(channel: string, message: string): Promise<unknown>;
}

/** The members of a Redis client that subscribes, which cannot do anything else: `client.duplicate()`. */
export interface RedisSubscriber {
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  unsubscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
}

export type RedisBusOptions = {
  /** A connected client for publishing. */
  readonly publisher: RedisPublisher;
  /** A connected client that is used for nothing else. */
  readonly subscriber: RedisSubscriber;
  /** The start of the names of the channels. Default: `capstan:`. */
  readonly prefix?: string;
};

/**
 * Creates a bus on Redis, with one channel per topic. The caller opens and closes the clients, handles their `error`
 * events, and lets them reconnect: until then, readers poll.
 */
export function redisBus({ publisher, subscriber, prefix = "capstan:" }: RedisBusOptions): DeltaBus {
  return {
    async publish(messages) {
      // The client sends commands in order, in one write.
      await Promise.all(messages.map(({ topic, text }) => publisher.publish(prefix + topic, text)));
    },
    subscribe(topic, onMessage) {
      const listener = (message: string) => onMessage(message); // the same function may subscribe twice
      const ready = subscriber.subscribe(prefix + topic, listener).then(() => undefined);
      return {
        ready,
        close() {
          const unsubscribe = () => subscriber.unsubscribe(prefix + topic, listener);
          ready.then(unsubscribe, unsubscribe).catch(() => undefined); // the connection is gone, and its subscriptions
        },
      };
    },
  };
}
