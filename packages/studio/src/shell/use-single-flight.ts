import { useRef } from "react";

/** Ignores an action while the previous one runs, for example on a double click. */
export function useSingleFlight(): (action: () => Promise<void>) => Promise<void> {
  const isRunning = useRef(false);
  return async (action) => {
    if (isRunning.current) return;
    isRunning.current = true;
    await action().finally(() => {
      isRunning.current = false;
    });
  };
}
