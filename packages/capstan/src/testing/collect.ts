import { type Event, type Fact, isFact } from "../event.ts";
import type { Result } from "../run/result.ts";
import type { Run } from "../run/run-handle.ts";

/** Returns all events of a run until it ends or suspends, and its result. */
export async function collect(run: Run): Promise<{ events: Event[]; facts: Fact[]; result: Result }> {
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return { events, facts: events.filter(isFact), result: await run };
}
