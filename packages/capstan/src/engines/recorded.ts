import { intentOf, type Step } from "../effect.ts";
import type { FactBody } from "../event.ts";

/** Where facts go. Resolves when they are stored. */
export type Journal = { append(facts: readonly FactBody[], place: string): Promise<void> };

/**
 * Stores the intent, performs, stores the result as soon as this effect is done: a crash after three of four
 * calls repeats none of the three. What was not begun when the run was cancelled is not begun any more.
 */
export function recorded(step: Step, journal: Journal): Step {
  return async (effect, signal) => {
    if (signal.aborted && effect.type !== "note") return [];
    await journal.append(intentOf(effect), effect.id);
    const facts = await step(effect, signal);
    await journal.append(facts, effect.id);
    return facts;
  };
}
