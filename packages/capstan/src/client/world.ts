import { type Clock, systemClock } from "../clock.ts";

/** Of `fetch`, what is used of it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** All that the client takes from the world around it. */
export type World = {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** From 0 up to 1. */
  random(): number;
  /** A key that nobody else has. */
  newKey(): string;
  /** Where the person is. */
  timeZone(): string;
  /** Calls `draw` when the next picture is drawn; where nothing is drawn, a moment later. */
  nextFrame(draw: () => void): void;
};

const frameMs = 16;
/** A page that is hidden draws nothing, and is still told. */
const hiddenMs = 250;

/** The world as it is, but for what is given. */
export function worldOf({ fetch: own, clock = systemClock }: Partial<Pick<World, "fetch" | "clock">>): World {
  return {
    // Browsers refuse a `fetch` that is called as a method of something else.
    fetch: own ?? ((url, init) => fetch(url, init)),
    clock,
    random: () => Math.random(),
    // `randomUUID` is missing on pages that come without TLS from another machine.
    newKey: () =>
      Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
        byte.toString(16).padStart(2, "0"),
      ).join(""),
    timeZone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    nextFrame(draw) {
      if (typeof requestAnimationFrame !== "function") return void clock.after(frameMs, draw);
      let isDrawn = false;
      const once = () => {
        if (isDrawn) return;
        isDrawn = true;
        cancel();
        draw();
      };
      const cancel = clock.after(hiddenMs, once);
      requestAnimationFrame(once);
    },
  };
}
