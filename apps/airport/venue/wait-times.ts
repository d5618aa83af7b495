import type { Place, Venue } from "./venue.ts";

export type WaitTime = { readonly checkpoint: Place; readonly minutes: number };

/** Busy in the morning and in the evening. One value for each hour of the day. */
const rush = [2, 2, 2, 4, 9, 16, 22, 24, 20, 14, 10, 9, 10, 11, 12, 14, 18, 21, 19, 14, 9, 6, 4, 3];
const slotMs = 5 * 60_000;

/** Made up from the time of day, and the same for everyone who asks within five minutes. */
export function simulatedWaits({ places }: Venue, now: number): WaitTime[] {
  const slot = Math.floor(now / slotMs);
  const usual = rush[new Date(now).getUTCHours()] ?? 10;
  return places
    .filter(({ category }) => category === "checkpoint")
    .map((checkpoint, index) => ({ checkpoint, minutes: Math.max(1, usual + wobble(slot, index)) }))
    .sort((left, right) => left.minutes - right.minutes);
}

/** From -4 to 4, different at each checkpoint. */
const wobble = (slot: number, index: number): number => ((slot * 7 + index * 5 + (slot % 3) * index) % 9) - 4;
