import type { Engine, Step } from "../effect.ts";

/** Runs effects in this process, side by side. */
export function direct(step: Step, signal: AbortSignal): Engine {
  return {
    async all(effects) {
      // Settled, not raced: nothing may still be in flight when the next decision is taken.
      const outcomes = await Promise.allSettled(effects.map((effect) => step(effect, signal)));
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}
