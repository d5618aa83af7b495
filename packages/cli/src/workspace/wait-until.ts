import { setTimeout as delay } from "node:timers/promises";

/**
 * Waits until a time of the wall clock, or until the signal is aborted. Reads the clock again and again: timers stand
 * still while the machine sleeps.
 */
export async function waitUntil(at: number, signal: AbortSignal, pollMs = 5000): Promise<void> {
  while (!signal.aborted && Date.now() < at)
    await delay(Math.min(at - Date.now(), pollMs), undefined, { signal }).catch(() => undefined);
}
