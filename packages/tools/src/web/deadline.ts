import { AgentError } from "capstan";
import type { Guard } from "./guard.ts";
import { toFetchError } from "./guard-errors.ts";

/** Time limit of one request, including redirects and the body. */
export type Deadline = {
  readonly signal: AbortSignal;
  /** Closes the connection and returns the error to throw. */
  fail(thrown: unknown, host: string): unknown;
  end(): void;
};

/** Starts the timer. The signal aborts on timeout, with `outer`, or on the first failure. */
export function startDeadline({ totalMs }: Pick<Guard, "totalMs">, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const onTimeout = () =>
    controller.abort(
      new AgentError("tool_timeout", `No complete response within ${totalMs} ms. Try another source.`, {
        retryable: false,
      }),
    );
  const timer = totalMs === "unlimited" ? undefined : setTimeout(onTimeout, totalMs);
  const onAbort = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", onAbort, { once: true });
  if (outer?.aborted) onAbort();
  const end = () => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", onAbort);
  };
  return {
    signal,
    end,
    fail(thrown, host) {
      end();
      if (signal.aborted) return signal.reason;
      const failure = toFetchError(thrown, host);
      controller.abort(failure);
      return failure;
    },
  };
}
