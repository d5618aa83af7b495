// Uncaught exceptions and unhandled rejections: a timer that throws, a promise that is never awaited. Node would end the
// process with a bare stack. A one-shot run ends with a readable message instead. Servers and chats keep running: our own
// code awaits everything it starts, so the error comes from a tool or a config, and the state that must survive (facts,
// leases, records) is in the store. A step that hangs because of it ends at its timeout.
export type UnhandledErrorHandler = (error: unknown) => void;

const handlers: UnhandledErrorHandler[] = [];

/** Handles unhandled errors instead of the handler registered before. Returns a function that unregisters. */
export function onUnhandledError(handler: UnhandledErrorHandler): () => void {
  handlers.push(handler);
  return () => {
    const index = handlers.lastIndexOf(handler);
    if (index >= 0) handlers.splice(index, 1);
  };
}

/** Catches the unhandled errors of this process and passes them to the newest handler, or to `fallback`. */
export function catchUnhandledErrors(fallback: UnhandledErrorHandler): void {
  const dispatch = (error: unknown) => (handlers.at(-1) ?? fallback)(error);
  process.on("uncaughtException", dispatch);
  process.on("unhandledRejection", dispatch);
}
