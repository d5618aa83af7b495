import { type Event, isFact } from "capstan";

/** Several may read the same event: it is written once for all who read it at about the same time. */
let written = new WeakMap<Event, string>();

/** An event as it is written by default. */
export function eventFrame(event: Event): string {
  const known = written.get(event);
  if (known !== undefined) return known;
  const data = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const frame = isFact(event) ? `id: ${event.seq}\n${data}` : data;
  written.set(event, frame);
  return frame;
}

/** Lets go of what was written: a store in memory never forgets its facts, and their frames are as large. */
export function forgetFrames(): void {
  written = new WeakMap();
}
