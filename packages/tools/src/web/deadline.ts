import { AgentError } from "capstan";
import type { Guard } from "./guard.ts";
import { failureOf } from "./refusal.ts";

/** The time of one request and all that follows from it. */
export type Deadline = {
  readonly signal: AbortSignal;
  /** Ends the connection, and gives the error to throw. */
  fail(thrown: unknown, host: string): unknown;
  end(): void;
};

/** Begins to count. The signal ends with the time, with `outer`, and with the first failure. */
export function startDeadline({ totalMs }: Pick<Guard, "totalMs">, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const isLate = () =>
    controller.abort(
      new AgentError("tool_timeout", `There was no whole answer within ${totalMs} ms. Try another source.`, {
        retryable: false,
      }),
    );
  const timer = totalMs === "unlimited" ? undefined : setTimeout(isLate, totalMs);
  const stop = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", stop, { once: true });
  if (outer?.aborted) stop();
  const end = () => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", stop);
  };
  return {
    signal,
    end,
    fail(thrown, host) {
      end();
      if (signal.aborted) return signal.reason;
      const failure = failureOf(thrown, host);
      controller.abort(failure);
      return failure;
    },
  };
}
