import type { Clock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";

type TimeoutOptions = { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal };

/** Rejects when the work takes too long or is aborted. The caller must then stop the work. */
export function withTimeout<Value>(
  work: Promise<Value>,
  { clock, ms, signal }: TimeoutOptions,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      cancel();
      signal.removeEventListener("abort", abort);
    };
    const abort = () => {
      settle();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      settle();
      reject(new AgentError("server_unreachable", `No data from the server for ${ms} ms.`));
    });
    signal.addEventListener("abort", abort);
    work.then(resolve, reject).finally(settle);
    if (signal.aborted) abort();
  });
}
