import type { DeltaBus } from "./delta-bus.ts";

/** The members of a NATS connection that the bus uses; compatible with `connect` of @nats-io/transport-node 3. */
export interface NatsConnection {
  publish(subject: string, payload: string): void;
  subscribe(
    subject: string,
    options: { callback(error: Error | null, message: { string(): string }): void },
  ): { unsubscribe(): void };
  /** Resolves when the server has received everything sent before. */
  flush(): Promise<void>;
}

export type NatsBusOptions = {
  /** The start of the subjects. Default: `capstan`. */
  readonly prefix?: string;
};

/**
 * Creates a bus on core NATS, with one subject per topic. The caller opens and closes the connection, and lets it
 * reconnect: until then, readers poll.
 */
export function natsBus(connection: NatsConnection, { prefix = "capstan" }: NatsBusOptions = {}): DeltaBus {
  const toSubject = (topic: string) => `${prefix}.${encodeSubject(topic)}`;
  return {
    async publish(messages) {
      for (const { topic, text } of messages) connection.publish(toSubject(topic), text);
    },
    subscribe(topic, onMessage) {
      const subscription = connection.subscribe(toSubject(topic), {
        callback(error, message) {
          if (!error) onMessage(message.string());
        },
      });
      return { ready: connection.flush(), close: () => subscription.unsubscribe() };
    },
  };
}

/** Encodes a topic as one token of a subject, which has no spaces, dots and wildcards. */
function encodeSubject(topic: string): string {
  return [...new TextEncoder().encode(topic)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
