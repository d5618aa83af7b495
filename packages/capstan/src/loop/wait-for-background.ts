import type { LoopContext } from "./loop.ts";

/** Waits while background runs execute: until one of them ends or suspends, a message arrives, or it is `until`. */
export async function waitForBackground(
  { inbox, clock, log, state }: Pick<LoopContext, "inbox" | "clock" | "log" | "state">,
  changed: Promise<void>,
  until: number | undefined,
): Promise<void> {
  const time = Promise.withResolvers<void>();
  const cancel = until === undefined ? undefined : clock.after(until - clock.now(), time.resolve);
  await Promise.race([changed, inbox.whenNotEmpty(), time.promise]).finally(cancel);
  if (until !== undefined && clock.now() >= until) await log.append([{ type: "woken" }], `${state.seq}`);
}
