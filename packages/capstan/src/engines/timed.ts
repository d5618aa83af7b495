import type { Clock } from "../clock.ts";
import type { Step } from "../effect.ts";
import { AgentError } from "../errors.ts";

/** Aborts an effect when its time is up, by one of its two limits; what it then says is still its own answer. */
export function timed(step: Step, clock: Clock, limit: "timeoutMs" | "deadlineMs"): Step {
  return async (effect, signal) => {
    // No limit, no timer: `unlimited` is the largest number there is.
    if (effect.type === "note" || effect[limit] === Number.MAX_SAFE_INTEGER) return step(effect, signal);
    const deadline = new AbortController();
    const forward = () => deadline.abort(signal.reason);
    if (signal.aborted) forward();
    else signal.addEventListener("abort", forward, { once: true });
    const subject = effect.type === "tool" ? `"${effect.name}"` : "The model";
    const code = effect.type === "tool" ? "tool_timeout" : "model_timeout";
    const cancel = clock.after(effect[limit], () => {
      deadline.abort(new AgentError(code, `${subject} took longer than ${effect[limit]} ms.`));
    });
    try {
      return await step(effect, deadline.signal);
    } finally {
      cancel();
      signal.removeEventListener("abort", forward);
    }
  };
}
