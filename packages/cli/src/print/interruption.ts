import type { Io } from "../io.ts";

/** Signals and broken output that end a command. */
export interface Interruption {
  /** Resolves at the first signal, or when the reader of the output is gone. */
  readonly first: Promise<"signal" | "output">;
  /** Resolves at the second signal: exit immediately. */
  readonly second: Promise<void>;
  /** Stops watching. */
  close(): void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

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
