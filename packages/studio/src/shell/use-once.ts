import { useRef } from "react";

/** Begins an action only when the one before it is over: a double click is one click. */
export function useOnce(): (action: () => Promise<void>) => Promise<void> {
  const isOn = useRef(false);
  return async (action) => {
    if (isOn.current) return;
    isOn.current = true;
    await action().finally(() => {
      isOn.current = false;
    });
  };
}
