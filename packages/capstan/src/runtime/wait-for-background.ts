import type { Clock } from "../base/clock.ts";
import type { State } from "../kernel/state.ts";
import type { Inbox } from "./inbox.ts";
import type { Log } from "./log.ts";

type BackgroundContext = {
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly state: State;
};

/** Waits while background runs execute: until one of them ends or suspends, a message arrives, or it is `until`. */
export async function waitForBackground(
  { inbox, clock, log, state }: BackgroundContext,
  changed: Promise<void>,
  until: number | undefined,
): Promise<void> {
  const time = Promise.withResolvers<void>();
  const cancel = until === undefined ? undefined : clock.after(until - clock.now(), time.resolve);
  await Promise.race([changed, inbox.whenNotEmpty(), time.promise]).finally(cancel);
  if (until !== undefined && clock.now() >= until) await log.append([{ type: "woken" }], `${state.seq}`);
}
