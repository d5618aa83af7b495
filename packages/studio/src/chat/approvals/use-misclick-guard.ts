import { useRef } from "react";

const minVisibleMs = 500;

/**
 * Ignores clicks in the first moment after a card appears, because they were meant for whatever was there before.
 */
export function useMisclickGuard(): (action: () => void) => (event: { readonly isTrusted: boolean }) => void {
  const shownAt = useRef(0);
  if (shownAt.current === 0) shownAt.current = performance.now();
  return (action) =>
    ({ isTrusted }) => {
      if (isTrusted && performance.now() - shownAt.current >= minVisibleMs) action();
    };
}
