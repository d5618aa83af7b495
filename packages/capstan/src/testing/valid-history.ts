import { type Entry, getCalls } from "../kernel/history.ts";

/** True if providers accept the history: each call is followed by its result, in call order. */
export function isValidHistory(history: readonly Entry[]): boolean {
  let open: string[] = [];
  for (const entry of history) {
    if (entry.type === "result") {
      if (entry.callId !== open.shift()) return false;
    } else {
      if (open.length > 0) return false;
      open = entry.type === "assistant" ? getCalls(entry).map((call) => call.id) : [];
    }
  }
  return open.length === 0;
}
