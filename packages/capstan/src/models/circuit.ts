import { systemClock } from "../base/clock.ts";
import { AgentError, isOutage } from "../base/errors.ts";
import { withCache } from "./with-cache.ts";

/** A circuit breaker as one request sees it: checked before the request, updated with its outcome. */
export type Circuit = {
  /** Returns how long to wait before the request. Throws `model_overloaded` while the circuit is open. */
  admit(): number;
  recordSuccess(): void;
  /** Failures that show the provider is reachable (such as a rejected request) close the circuit. */
  recordFailure(error: Pick<AgentError, "code" | "retryAfterMs">): void;
};

export type CircuitOptions = {
  /** Consecutive failures that open the circuit. Default: 5. */
  readonly failures?: number;
  /** How long the circuit first stays open; doubles after each failed probe. Default: 1 s. */
  readonly openMs?: number;
  /** Maximum time between two probes. Default: 20 s. */
  readonly longestMs?: number;
  /** Name of the provider in the error message. Default: the key. */
  readonly name?: string;
  readonly now?: () => number;
};

type CircuitState = {
  failures: number;
  /** When the next probe is allowed; undefined while closed. */
  probeAt: number | undefined;
  openMs: number;
  /** Since when the provider is back, and when the next request may be sent. */
  recovery: { readonly since: number; nextAt: number } | undefined;
};

/** After an outage requests are this far apart; the rate doubles every few seconds, until there is no limit. */
const recoveryGapMs = 20;
const recoveryStepMs = 5_000;
const recoveryMs = 30_000;

/** Holds failing keys only, most recent last. Bounded, because rotating keys must not fill the memory. */
const states = new Map<string, CircuitState>();
const maxStates = 1000;

/**
 * Returns the breaker of a key, shared within the process. After 5 consecutive failures it opens: calls fail at once,
 * without a request, and say when the next one can pass. After `openMs` one call passes as a probe, which closes the
 * circuit or opens it for twice as long. If a probe never reports because its caller gave up, another one is allowed after
 * the same time. An open circuit fails no run: it is waited for like any other outage. When it closes, calls continue at 50
 * per second, and twice as many every five seconds.
 */
export function getCircuit(key: string, options: CircuitOptions = {}): Circuit {
  const { failures = 5, openMs = 1_000, longestMs = 20_000, name = key } = options;
  const now = options.now ?? systemClock.monotonic;
  let isProbe = false;
  let admittedAt = 0;
  const close = () => {
    isProbe = false;
    const state = states.get(key);
    if (state?.probeAt !== undefined) {
      state.recovery = { since: now(), nextAt: now() + recoveryGapMs };
      state.probeAt = undefined;
      state.openMs = openMs;
    } else if (!state?.recovery || now() - state.recovery.since > recoveryMs) states.delete(key);
    if (state) state.failures = 0;
  };
  return {
    admit() {
      const state = states.get(key);
      admittedAt = now();
      if (state?.probeAt !== undefined) {
        const remainingMs = state.probeAt - admittedAt;
        if (remainingMs > 0) throw createOpenCircuitError(name, state, remainingMs);
        isProbe = true;
        state.probeAt = admittedAt + state.openMs;
      }
      return state?.recovery && state.probeAt === undefined ? takeSlot(state.recovery, admittedAt, name) : 0;
    },
    recordSuccess: close,
    recordFailure(error) {
      if (!isOutage(error)) return close();
      const state = states.get(key) ?? { failures: 0, probeAt: undefined, openMs, recovery: undefined };
      // The request was sent during the outage that is over.
      if (state.recovery && admittedAt < state.recovery.since) return;
      storeState(key, state);
      state.failures += 1;
      if (isProbe) state.openMs = Math.min(state.openMs * 2, longestMs);
      // Requests already in flight when the circuit opened fail late; they do not extend it.
      if (isProbe || (state.probeAt === undefined && state.failures >= failures)) {
        state.probeAt = now() + Math.max(state.openMs, Math.min(error.retryAfterMs ?? 0, longestMs));
        state.recovery = undefined;
      }
      isProbe = false;
    },
  };
}

/** Longest wait for a slot while a call holds its process. */
const maxSlotWaitMs = 5_000;

/** Assigns the next free slot after an outage and returns the time until then. Throws if that is long. */
function takeSlot(recovery: { readonly since: number; nextAt: number }, at: number, name: string): number {
  const slotAt = Math.max(at, recovery.nextAt);
  const waitMs = slotAt - at;
  if (waitMs > maxSlotWaitMs) {
    const message = `${name} is back after an outage. Calls continue gradually.`;
    throw new AgentError("model_overloaded", message, { retryable: true, retryAfterMs: waitMs });
  }
  recovery.nextAt = slotAt + recoveryGapMs / 2 ** Math.floor((slotAt - recovery.since) / recoveryStepMs);
  return waitMs;
}

function storeState(key: string, state: CircuitState): void {
  states.delete(key);
  states.set(key, state);
  if (states.size <= maxStates) return;
  const [oldest] = states.keys();
  if (oldest !== undefined) states.delete(oldest);
}

function createOpenCircuitError(name: string, { failures }: CircuitState, remainingMs: number): AgentError {
  const seconds = Math.ceil(remainingMs / 1000);
  return new AgentError(
    "model_overloaded",
    `${name} failed ${failures} times in a row. No requests are sent for another ${seconds} s.`,
    { retryable: true, retryAfterMs: Math.ceil(remainingMs) },
  );
}

/** Headers whose values are keys or tokens. */
export const secretHeaders: ReadonlySet<string> = new Set([
  ...["authorization", "x-api-key", "x-goog-api-key", "api-key", "x-amz-security-token"],
]);

/** Each `fetch` is a separate route to the network, so it gets its own circuits; so does each source of credentials. */
const sourceIds = new WeakMap<object, number>();
let sourceCount = 0;

export type CircuitKeyParts = {
  readonly url: string;
  readonly id: string;
  readonly headers: { readonly [name: string]: string };
  readonly fetch?: object | undefined;
  /** The source of an account's credentials, if they are in no header. */
  readonly account?: object | undefined;
};

/** Identifies what fails together: host, model and account. The account's key cannot be recovered from the result. */
export function buildCircuitKey({ url, id, headers, fetch, account }: CircuitKeyParts): string {
  const host = getHost(url);
  const sources = [fetch, account].map((source) => (source ? getSourceId(source) : ""));
  return [host, id, hashSecretHeaders(headers), ...sources].join(" ");
}

const getHost = withCache((url) => (URL.canParse(url) ? new URL(url).host : url));

/** FNV-1a: 32 bits are enough to tell accounts apart and too few to recover a key. */
function hashSecretHeaders(headers: CircuitKeyParts["headers"]): string {
  let hash = 0x811c9dc5;
  for (const name of Object.keys(headers)) {
    if (!secretHeaders.has(name.toLowerCase())) continue;
    const value = headers[name] ?? "";
    for (let at = 0; at < value.length; at += 1) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

function getSourceId(source: object): number {
  let id = sourceIds.get(source);
  if (id === undefined) {
    sourceCount += 1;
    id = sourceCount;
    sourceIds.set(source, id);
  }
  return id;
}
