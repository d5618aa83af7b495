import type { Event } from "../kernel/event.ts";

const restartTypes: ReadonlySet<Event["type"]> = new Set([
  ...(["message_restart", "model_failed", "recovered", "retried", "turn_start"] as const),
]);

/**
 * Whether the event discards the unfinished message of its run, if any: readers replace the text they have shown so far.
 * A reader may miss the delta `message_restart`, because it is not stored; the facts around it have the same effect.
 */
export function restartsMessage({ type }: Event): boolean {
  return restartTypes.has(type);
}
