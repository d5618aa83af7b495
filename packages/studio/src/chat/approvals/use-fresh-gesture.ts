import { useRef } from "react";

const freshMs = 500;

/**
 * Lets an action through only when it was on the screen for a moment: a click that was meant for what stood there before
 * decides nothing.
 */
export function useFreshGesture(): (action: () => void) => (event: { readonly isTrusted: boolean }) => void {
  const shownAt = useRef(0);
  if (shownAt.current === 0) shownAt.current = performance.now();
  return (action) =>
    ({ isTrusted }) => {
      if (isTrusted && performance.now() - shownAt.current >= freshMs) action();
    };
}
