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
export function interruption({ stdout }: Io): Interruption {
  const first = Promise.withResolvers<"signal" | "output">();
  const second = Promise.withResolvers<void>();
  let count = 0;
  const hear = () => {
    count += 1;
    if (count === 1) first.resolve("signal");
    else second.resolve();
  };
  const lose = () => first.resolve("output");
  for (const signal of signals) process.on(signal, hear);
  stdout.on("error", lose);
  return {
    first: first.promise,
    second: second.promise,
    close() {
      for (const signal of signals) process.off(signal, hear);
      stdout.off("error", lose);
    },
  };
}
