/** A message for the processes that follow a topic. */
export type BusMessage = { readonly topic: string; readonly text: string };

/** `ready` resolves when later messages are sure to arrive. */
export type BusSubscription = { readonly ready: Promise<void>; close(): void };

/**
 * Carries live deltas between processes, and hints that a session has changed. Best effort: nothing on it is stored. A
 * lost message costs readers a poll and never a fact. A topic is about one session, so that a process receives
 * messages about the sessions it watches only.
 */
export interface DeltaBus {
  /** Sends messages of at most 8,000 bytes. Messages of one topic arrive in this order. */
  publish(messages: readonly BusMessage[]): Promise<void>;
  /** Calls `onMessage` with each message of a topic, including the messages of this process. */
  subscribe(topic: string, onMessage: (text: string) => void): BusSubscription;
}
