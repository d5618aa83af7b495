import type { Event } from "../event.ts";

/**
 * Whether the event discards the unfinished message of its run, if there is one: readers replace the text they have
 * shown so far. A reader may miss the delta `message_restart`, which is not stored; the facts around it say the same.
 */
export function restartsMessage({ type }: Event): boolean {
  return (
    type === "message_restart" || type === "model_failed" || type === "recovered" || type === "turn_start"
  );
}
