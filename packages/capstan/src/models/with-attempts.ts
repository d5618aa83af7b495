import { type Clock, computeWaitMs, sleep } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { defaultPolicy } from "../kernel/policy.ts";

const { attempts, minMs } = defaultPolicy.modelRetry;
const maxBackoffMs = 20_000;
/** A longer wait is the caller's decision. */
const maxRequestedWaitMs = 60_000;

/** Repeats a request that failed for a reason that passes, like the quick attempts of a model call in a run. */
export async function withAttempts<Result>(
  clock: Clock,
  signal: AbortSignal,
  send: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (thrown) {
      const { retryable = false, retryAfterMs = 0 } = thrown instanceof AgentError ? thrown : {};
      if (!retryable || attempt >= attempts || signal.aborted || retryAfterMs > maxRequestedWaitMs)
        throw thrown;
      await sleep(clock, Math.max(retryAfterMs, computeWaitMs(minMs, maxBackoffMs, attempt)), signal);
    }
  }
}
