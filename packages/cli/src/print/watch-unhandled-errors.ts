import { AgentError } from "capstan";
import { formatUnhandledError } from "../errors/format-unhandled-error.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import type { Io } from "../io.ts";

/** Errors that nobody waits for, as far as they concern a script. */
export interface UnhandledErrorWatch {
  /** Rejects with the first one. */
  readonly first: Promise<never>;
  /** Whether there was one. */
  hasFailed(): boolean;
  /** What the script says is said: one that comes later is told on stderr. */
  settle(): void;
  /** Listens no more. */
  close(): void;
}

/** Listens until it is closed. */
export function watchUnhandledErrors(io: Io): UnhandledErrorWatch {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined); // for whoever has nothing to race with it
  let [isHeard, isSettled] = [false, false];
  const close = onUnhandledError((error) => {
    isHeard = true;
    if (isSettled) io.stderr.write(`capstan: ${formatUnhandledError(error, io.env)}\n`);
    else reject(toAgentError(error));
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

/** With the stack of what was thrown, for `CAPSTAN_DEBUG`: where it was caught says nothing. */
function toAgentError(error: unknown): AgentError {
  const failure = new AgentError("internal", formatUnhandledError(error, {}), { cause: error });
  if (error instanceof Error && error.stack) failure.stack = error.stack;
  return failure;
}
