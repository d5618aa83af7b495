import type { DeltaBus } from "./delta-bus.ts";

/** Creates a bus for stores in one process. Other processes learn about facts when they poll. */
export function inProcessBus(): DeltaBus {
  const listeners = new Map<string, Set<(text: string) => void>>();
  return {
    async publish(messages) {
      for (const { topic, text } of messages)
        for (const listener of listeners.get(topic) ?? []) listener(text);
    },
    subscribe(topic, onMessage) {
      const listener = (text: string) => onMessage(text); // the same function may subscribe twice
      const topicListeners = listeners.get(topic) ?? new Set();
      listeners.set(topic, topicListeners.add(listener));
      return {
        ready: Promise.resolve(),
        close() {
          topicListeners.delete(listener);
          if (topicListeners.size === 0 && listeners.get(topic) === topicListeners) listeners.delete(topic);
        },
      };
    },
  };
}
