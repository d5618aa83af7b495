import type { ListeningServer } from "./listen.ts";

export type DrainOptions = {
  /** How long what is under way may take; 25 s when left out. */
  readonly patienceMs?: number;
  readonly signals?: readonly NodeJS.Signals[];
  /** Done last, such as closing the store. */
  afterwards?(): void | Promise<void>;
};

/**
 * From now on a signal to stop makes the server leave in peace: no new work, streams are told, runs are put down, and the
 * process ends with 0. A second one ends it at once. The returned function takes that back.
 */
export function drainOnSignals(listening: ListeningServer, options: DrainOptions = {}): () => void {
  const { signals = ["SIGTERM", "SIGINT"], patienceMs, afterwards } = options;
  let isLeaving = false;

  async function leave(): Promise<void> {
    await listening.close(patienceMs);
    await afterwards?.();
  }
  function onSignal(_: NodeJS.Signals, number: number): void {
    if (isLeaving) process.exit(128 + number);
    isLeaving = true;
    leave().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  }
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
