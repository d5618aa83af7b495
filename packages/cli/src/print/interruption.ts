import type { Io } from "../io.ts";

/** Somebody wants us to leave. */
export interface Interruption {
  /** Resolves the first time: with a signal, or because nobody reads the output any more. */
  readonly first: Promise<"signal" | "output">;
  /** Resolves when it was said again: now at once. */
  readonly second: Promise<void>;
  /** Listens no more. */
  close(): void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Listens until it is closed. */
export function watchInterruption({ stdout }: Io): Interruption {
  const first = Promise.withResolvers<"signal" | "output">();
  const second = Promise.withResolvers<void>();
  let count = 0;
  const onSignal = () => {
    count += 1;
    if (count === 1) first.resolve("signal");
    else second.resolve();
  };
  const onOutputError = () => first.resolve("output");
  for (const signal of signals) process.on(signal, onSignal);
  stdout.on("error", onOutputError);
  return {
    first: first.promise,
    second: second.promise,
    close() {
      for (const signal of signals) process.off(signal, onSignal);
      stdout.off("error", onOutputError);
    },
  };
}
