import { AgentError } from "capstan";
import { strayErrorWords } from "../errors/format-unhandled-error.ts";
import { hearStrayErrors } from "../errors/unhandled-errors.ts";
import type { Io } from "../io.ts";

/** Errors that nobody waits for, as far as they concern a script. */
export interface StrayFailure {
  /** Rejects with the first one. */
  readonly first: Promise<never>;
  /** Whether there was one. */
  isHeard(): boolean;
  /** What the script says is said: one that comes later is told on stderr. */
  settle(): void;
  /** Listens no more. */
  close(): void;
}

/** Listens until it is closed. */
export function strayFailure(io: Io): StrayFailure {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined); // for whoever has nothing to race with it
  let [isHeard, isSettled] = [false, false];
  const close = hearStrayErrors((error) => {
    isHeard = true;
    if (isSettled) io.stderr.write(`capstan: ${strayErrorWords(error, io.env)}\n`);
    else reject(failureOf(error));
  });
  return {
    first: promise,
    isHeard: () => isHeard,
    settle() {
      isSettled = true;
    },
    close,
  };
}

/** With the stack of what was thrown, for `CAPSTAN_DEBUG`: where it was caught says nothing. */
function failureOf(error: unknown): AgentError {
  const failure = new AgentError("internal", strayErrorWords(error, {}), { cause: error });
  if (error instanceof Error && error.stack) failure.stack = error.stack;
  return failure;
}
