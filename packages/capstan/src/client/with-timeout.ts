import type { Clock } from "../clock.ts";
import { AgentError } from "../errors.ts";

type Limits = { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal };

/** The work, unless it takes too long or is aborted. Whoever began it must end it then. */
export function inTime<Value>(work: Promise<Value>, { clock, ms, signal }: Limits): Promise<Value> {
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
      reject(new AgentError("server_unreachable", `Nothing has come from the server for ${ms} ms.`));
    });
    signal.addEventListener("abort", abort);
    work.then(resolve, reject).finally(settle);
    if (signal.aborted) abort();
  });
}
