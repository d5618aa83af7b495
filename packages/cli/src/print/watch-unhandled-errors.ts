import { AgentError } from "capstan";
import { formatUnhandledError } from "../errors/format-unhandled-error.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import type { Io } from "../io.ts";

/** Unhandled errors during a one-shot run. */
export interface UnhandledErrorWatch {
  /** Rejects with the first error. */
  readonly first: Promise<never>;
  /** Whether there was an error. */
  hasFailed(): boolean;
  /** The result is written: later errors go to stderr. */
  settle(): void;
  /** Stops watching. */
  close(): void;
}

export function watchUnhandledErrors(io: Io): UnhandledErrorWatch {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined); // not every caller awaits it
  let [isHeard, isSettled] = [false, false];
  const close = onUnhandledError((error) => {
    isHeard = true;
    if (isSettled) io.stderr.write(`capstan: ${formatUnhandledError(error, io.env)}\n`);
    else reject(toUnhandledError(error));
  });
  return {
    first: promise,
    hasFailed: () => isHeard,
    settle() {
      isSettled = true;
    },
    close,
  };
}

/** Keeps the original stack, for `CAPSTAN_DEBUG`. */
function toUnhandledError(error: unknown): AgentError {
  const failure = new AgentError("internal", formatUnhandledError(error, {}), { cause: error });
  if (error instanceof Error && error.stack) failure.stack = error.stack;
  return failure;
}
