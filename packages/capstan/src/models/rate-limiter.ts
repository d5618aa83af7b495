import { backgroundClock, type ClockOption, toClock } from "../base/clock.ts";
import { formatValue, suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { createId } from "../kernel/ids.ts";
import type { Records } from "../kernel/records.ts";
import { createRateLedger, isRefusal } from "./rate-ledger.ts";
import {
  clampToLimits,
  type RateLimits,
  type RateRefusal,
  type RateUse,
  rateResources,
  rateWindows,
} from "./rate-record.ts";

export type RateLimiterOptions = RateLimits & {
  /** All processes that use this store share the limits. */
  readonly store: Pick<Records, "getRecord" | "putRecord" | "removeRecord">;
  /** Identifies the account that the limits belong to, such as a name or its API key. The store gets a hash of it. */
  readonly key: string;
  readonly clock?: ClockOption;
};

/** Keeps the calls of all processes on a store within the limits of an account. */
export interface RateLimiter {
  /** Reserves one request with this many tokens. Rejects with `model_rate_limited`. */
  reserve(tokens: number): Promise<RateReservation>;
  /** Returns unused reservations of this process. */
  close(): Promise<void>;
}

export type RateReservation = {
  /** Replaces the reserved tokens by the ones that were used. */
  settle(tokens: number): void;
};

/** How long a process uses its slice of the limits before it asks for another one. */
const leaseMs = 5_000;
/** How long a refusal holds for later calls of this process: others may give something back. */
const refusalMs = 1_000;

type Slice = { requests: number; tokens: number; readonly endsAt: number };

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { store, key, requests, tokens } = options;
  const limits = checkRateLimits({ ...(requests && { requests }), ...(tokens && { tokens }) });
  const clock = toClock(options.clock ?? backgroundClock);
  const ledger = createRateLedger({ store, key, limits, owner: createId("rate_") });
  let slice: Slice | undefined;
  let uses: RateUse[] = [];
  let refused:
    | { readonly refusal: RateRefusal; readonly tokens: number; readonly endsAt: number }
    | undefined;
  let cancelTimer: (() => void) | undefined;
  const takeTurn = createTurns(); // one change of the slice at a time

  /** Stores the usage and releases the slice. With `needed`, returns the next slice, or the reason for refusing it. */
  async function sync(needed?: number): Promise<RateRefusal | undefined> {
    const [stored, endsAt] = [uses, clock.monotonic() + leaseMs];
    [uses, slice] = [[], undefined];
    try {
      const now = clock.now();
      const outcome = await ledger.exchange({ now, uses: stored, neededTokens: needed, leaseMs });
      if (isRefusal(outcome)) return outcome;
      if (outcome) slice = { ...outcome, endsAt };
      return undefined;
    } catch (thrown) {
      uses = [...stored, ...uses];
      throw thrown;
    }
  }

  const settleAll = () => takeTurn(() => (slice || uses.length > 0 ? sync() : undefined));

  function scheduleSync(): void {
    cancelTimer ??= clock.after(leaseMs, () => {
      cancelTimer = undefined;
      settleAll().catch(scheduleSync); // the store cannot be written now
    });
  }

  function take(needed: number): RateReservation | undefined {
    if (!slice || clock.monotonic() >= slice.endsAt || slice.requests < 1 || slice.tokens < needed)
      return undefined;
    slice.requests -= 1;
    slice.tokens -= needed;
    const at = clock.now();
    uses.push({ at, requests: 1, tokens: needed });
    scheduleSync();
    return {
      settle(used) {
        if (used === needed) return;
        uses.push({ at, requests: 0, tokens: used - needed });
        // The other processes must learn soon that a call used more than this process has reserved.
        if (used - needed > (slice?.tokens ?? 0)) settleAll().catch(scheduleSync);
        else scheduleSync();
      },
    };
  }

  return {
    reserve: (estimate) =>
      takeTurn(async () => {
        const needed = clampToLimits(limits, "tokens", Math.max(0, Math.ceil(estimate)));
        const taken = take(needed);
        if (taken) return taken;
        if (refused && clock.monotonic() < refused.endsAt && needed >= refused.tokens)
          throw createRateError(refused.refusal, clock.now());
        const refusal = await sync(needed).catch((cause) => {
          throw createStoreError(cause);
        });
        refused = refusal && { refusal, tokens: needed, endsAt: clock.monotonic() + refusalMs };
        const reservation = take(needed);
        if (reservation) return reservation;
        throw refusal ? createRateError(refusal, clock.now()) : createStoreError(undefined);
      }),
    async close() {
      cancelTimer?.();
      cancelTimer = undefined;
      await settleAll();
    },
  };
}

/** Returns a function that does one piece of work after the other. */
function createTurns(): <Value>(work: () => Value | Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Throws `invalid_definition` for unknown fields and windows, and for limits that are not whole numbers above 0. */
export function checkRateLimits(limits: RateLimits): RateLimits {
  let count = 0;
  for (const [resource, windows] of Object.entries(limits)) {
    if (!(rateResources as readonly string[]).includes(resource))
      throw createLimitsError(`Unknown rate limit "${resource}".`, resource, rateResources);
    if (!isRecord(windows))
      throw createLimitsError(`The rate limit "${resource}" needs a window, such as { minute: 500 }.`);
    for (const [window, limit] of Object.entries(windows)) {
      if (!Object.hasOwn(rateWindows, window)) {
        const message = `Unknown window "${window}" of the rate limit "${resource}".`;
        throw createLimitsError(message, window, Object.keys(rateWindows));
      }
      if (limit === undefined) continue;
      if (!Number.isInteger(limit) || Number(limit) < 1) {
        const message = `Invalid rate limit "${resource} per ${window}": ${formatValue(limit)}. Use a whole number above 0.`;
        throw createLimitsError(message);
      }
      count += 1;
    }
  }
  if (count > 0) return limits;
  throw createLimitsError(
    "A rate limit needs `requests` or `tokens`, such as { requests: { minute: 500 } }.",
  );
}

function createLimitsError(message: string, name = "", known: readonly string[] = []): AgentError {
  const hint = known.length > 0 ? suggestName(name, known) || ` Known: ${known.join(", ")}.` : "";
  return new AgentError("invalid_definition", message + hint);
}

function createRateError({ resource, window, limit, retryAt }: RateRefusal, now: number): AgentError {
  const retryAfterMs = Math.max(1, retryAt - now);
  const message = `The limit of ${limit} ${resource} per ${window}, which all processes share, is reached. Another call is possible in ${Math.ceil(retryAfterMs / 1000)} s.`;
  return new AgentError("model_rate_limited", message, { retryAfterMs });
}

/** Without its store, no process knows what is left: no call is sent. */
function createStoreError(cause: unknown): AgentError {
  const message = "The rate limit cannot be read from the store. No call is sent until it can be.";
  return new AgentError("model_rate_limited", message, { cause, retryAfterMs: refusalMs });
}
