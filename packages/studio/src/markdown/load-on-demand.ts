import { useEffect, useSyncExternalStore } from "react";

/**
 * Creates a hook for a module that is loaded when something first needs it. The hook returns undefined until then. If
 * loading fails, the next use tries again.
 */
export function createModuleHook<Module>(
  load: () => Promise<Module>,
): (isWanted: boolean) => Module | undefined {
  let loaded: Module | undefined;
  let isRequested = false;
  const listeners = new Set<() => void>();
  const onLoad = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const request = async (): Promise<void> => {
    isRequested = true;
    try {
      loaded = await load();
    } catch {
      isRequested = false;
    }
    for (const listener of listeners) listener();
  };
  return (isWanted) => {
    useEffect(() => {
      if (isWanted && !isRequested) void request();
    }, [isWanted]);
    return useSyncExternalStore(
      onLoad,
      () => loaded,
      () => undefined,
    );
  };
}
