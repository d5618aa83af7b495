import { type Clock, systemClock } from "../base/clock.ts";

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Everything the client needs from its environment. */
export type ClientEnvironment = {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  random(): number;
  /** Creates a unique key. */
  createKey(): string;
  getTimeZone(): string;
  /** Calls `draw` on the next animation frame, or after a short delay outside of browsers. */
  onNextFrame(draw: () => void): void;
};

const frameMs = 16;
/** Hidden pages get no animation frames. */
const hiddenMs = 250;

/** Creates the default environment with overrides. */
export function createEnvironment({
  fetch: own,
  clock = systemClock,
}: Partial<Pick<ClientEnvironment, "fetch" | "clock">>): ClientEnvironment {
  return {
    // Browsers reject `fetch` when it is called as a method of another object.
    fetch: own ?? ((url, init) => fetch(url, init)),
    clock,
    random: () => Math.random(),
    // `randomUUID` is not available on pages without TLS.
    createKey: () =>
      Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
        byte.toString(16).padStart(2, "0"),
      ).join(""),
    getTimeZone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    onNextFrame(draw) {
      if (typeof requestAnimationFrame !== "function") return void clock.after(frameMs, draw);
      let isDrawn = false;
      const drawOnce = () => {
        if (isDrawn) return;
        isDrawn = true;
        cancel();
        draw();
      };
      const cancel = clock.after(hiddenMs, drawOnce);
      requestAnimationFrame(drawOnce);
    },
  };
}
