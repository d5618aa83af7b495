import { type RefObject, useEffect, useRef } from "react";

const minStillMs = 500;

type GuardedEvent = { readonly isTrusted: boolean; preventDefault(): void };

/** Protects the buttons of a decision from clicks and keys that were meant for whatever was there before. */
export type MisclickGuard = {
  /** For the element around the buttons. */
  readonly ref: RefObject<HTMLDivElement | null>;
  /** Wraps what a click, a key or a form does. */
  readonly guardClick: (action: () => void) => (event: GuardedEvent) => void;
};

/**
 * Ignores clicks and keys until the buttons have been in the same place of the window for a moment: they may have
 * appeared, or moved below the pointer, between the first and the second click of a double click. An ignored one starts
 * the wait again, so that neither many clicks nor a key that is held down get through.
 */
export function useMisclickGuard(): MisclickGuard {
  const ref = useRef<HTMLDivElement>(null);
  const still = useRef<Stillness>({ place: "", since: 0 });
  useEffect(() => {
    let frame = 0;
    function watch(): void {
      updateStillness(still.current, ref.current);
      frame = requestAnimationFrame(watch);
    }
    watch();
    return () => cancelAnimationFrame(frame);
  }, []);
  return {
    ref,
    guardClick: (action) => (event) => {
      updateStillness(still.current, ref.current);
      const now = performance.now();
      if (event.isTrusted && now - still.current.since >= minStillMs) return action();
      event.preventDefault();
      still.current.since = now;
    },
  };
}

/** Where the buttons are in the window, and since when. */
type Stillness = { place: string; since: number };

function updateStillness(still: Stillness, element: Element | null): void {
  const { x = 0, y = 0 } = element?.getBoundingClientRect() ?? {};
  const place = `${Math.round(x)} ${Math.round(y)}`;
  if (place !== still.place) Object.assign(still, { place, since: performance.now() });
}
