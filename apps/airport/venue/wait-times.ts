import type { Place, Venue } from "./venue.ts";

export type WaitTime = { readonly checkpoint: Place; readonly minutes: number };

/** Minutes for each hour of the day; busy in the morning and in the evening. */
const typicalWaitsByHour = [
  2, 2, 2, 4, 9, 16, 22, 24, 20, 14, 10, 9, 10, 11, 12, 14, 18, 21, 19, 14, 9, 6, 4, 3,
];
const slotMs = 5 * 60_000;

/** Invents wait times from the time of day. They are constant for five minutes. */
export function simulateWaitTimes({ places }: Venue, now: number): WaitTime[] {
  const slot = Math.floor(now / slotMs);
  const typicalWait = typicalWaitsByHour[new Date(now).getUTCHours()] ?? 10;
  return places
    .filter(({ category }) => category === "checkpoint")
    .map((checkpoint, index) => ({
      checkpoint,
      minutes: Math.max(1, typicalWait + computeVariation(slot, index)),
    }))
    .sort((left, right) => left.minutes - right.minutes);
}

/** Between -4 and 4, different at each checkpoint. */
const computeVariation = (slot: number, index: number): number =>
  ((slot * 7 + index * 5 + (slot % 3) * index) % 9) - 4;
