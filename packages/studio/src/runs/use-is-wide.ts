import { useSyncExternalStore } from "react";

const wide = matchMedia("(min-width: 768px)");

function onChange(notify: () => void): () => void {
  wide.addEventListener("change", notify);
  return () => wide.removeEventListener("change", notify);
}

/** Whether there is room for a table. */
export function useIsWide(): boolean {
  return useSyncExternalStore(onChange, () => wide.matches);
}
