// Errors that reach nobody: a tool's timer that throws, a promise that nobody awaits. Node would end the process with a
// bare stack. A script ends too, in its own words. What serves many people or holds a conversation goes on: our own code
// awaits what it begins, so such an error is of a tool or a configuration, and what must hold (facts, leases, records) is
// in the store and not in memory. A step that hangs for it ends with its time limit, like any other that does not answer.
export type UnhandledErrorHandler = (error: unknown) => void;

const handlers: UnhandledErrorHandler[] = [];

/** Has them told to `hear` in place of whoever heard them before, until the function that is given back is called. */
export function onUnhandledError(handler: UnhandledErrorHandler): () => void {
  handlers.push(handler);
  return () => {
    const index = handlers.lastIndexOf(handler);
    if (index >= 0) handlers.splice(index, 1);
  };
}

/** Catches those of this process for whoever hears them; `otherwise` when nobody does. */
export function catchUnhandledErrors(fallback: UnhandledErrorHandler): void {
  const dispatch = (error: unknown) => (handlers.at(-1) ?? fallback)(error);
  process.on("uncaughtException", dispatch);
  process.on("unhandledRejection", dispatch);
}
