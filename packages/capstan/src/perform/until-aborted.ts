import { AgentError } from "../errors.ts";

/** The promise, or the signal's reason as soon as it is aborted: what ignores its signal is left behind. */
export function rejectOnAbort<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      Promise.resolve(work).catch(() => undefined); // its late rejection must not end the process
      return reject(signal.reason);
    }
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const finish = () => signal.removeEventListener("abort", abort);
    work.then(
      (value) => {
        finish();
        resolve(value);
      },
      (reason) => {
        finish();
        reject(reason);
      },
    );
  });
}

/** Whether time ran out. Everything else that aborts is a cancellation. */
export function isDeadline({ reason }: AbortSignal): boolean {
  return reason instanceof AgentError && (reason.code === "tool_timeout" || reason.code === "model_timeout");
}
