import type { ListeningServer } from "./listen.ts";

export type DrainOptions = {
  /** How long active work may take to finish; 25 s by default. */
  readonly patienceMs?: number;
  readonly signals?: readonly NodeJS.Signals[];
  /** Called last, for example to close the store. */
  afterwards?(): void | Promise<void>;
};

/**
 * Shuts the server down on SIGTERM or SIGINT: it refuses new work, notifies streams, releases runs, and exits with 0.
 * A second signal exits immediately. Returns a function that removes the handlers.
 */
export function drainOnSignals(listening: ListeningServer, options: DrainOptions = {}): () => void {
  const { signals = ["SIGTERM", "SIGINT"], patienceMs, afterwards } = options;
  let isShuttingDown = false;

  async function shutDown(): Promise<void> {
    await listening.close(patienceMs);
    await afterwards?.();
  }
  function onSignal(_: NodeJS.Signals, number: number): void {
    if (isShuttingDown) process.exit(128 + number);
    isShuttingDown = true;
    shutDown().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  }
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
