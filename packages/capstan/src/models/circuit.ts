import { AgentError, type ErrorCode } from "../errors.ts";

/** A circuit breaker as one request sees it: checked before the request, updated with its outcome. */
export type Circuit = {
  /** Throws `model_overloaded` while the circuit is open. */
  assertClosed(): void;
  recordSuccess(): void;
  /** Failures that show the provider is reachable (such as a rejected request) close the circuit. */
  recordFailure(error: Pick<AgentError, "code">): void;
};

export type CircuitOptions = {
  /** Consecutive failures that open the circuit. Default: 5. */
  readonly failures?: number;
  /** How long the circuit first stays open; doubles after each failed probe. Default: 30 s. */
  readonly openMs?: number;
  /** Maximum time the circuit stays open. Default: 5 minutes. */
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
};

const downCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "model_unreachable",
  "model_overloaded",
  "model_timeout",
  "model_rate_limited",
  "stream_truncated",
]);

/** Holds failing keys only, most recent last. Bounded, because rotating keys must not fill the memory. */
const states = new Map<string, CircuitState>();
const maxStates = 1000;

/**
 * Returns the breaker of a key, shared within the process. After 5 consecutive failures it opens: calls fail at once,
 * without a request. After `openMs` one call passes as a probe, which closes the circuit or opens it for twice as
 * long. If a probe never reports because its caller gave up, another one is allowed after the same time.
 */
export function getCircuit(key: string, options: CircuitOptions = {}): Circuit {
  const { failures = 5, openMs = 30_000, longestMs = 300_000, name = key } = options;
  const now = options.now ?? (() => performance.now());
  let isProbe = false;
  const close = () => {
    isProbe = false;
    states.delete(key);
  };
  return {
    assertClosed() {
      const state = states.get(key);
      if (state?.probeAt === undefined) return;
      const remainingMs = state.probeAt - now();
      if (remainingMs > 0) throw createOpenCircuitError(name, state, remainingMs);
      isProbe = true;
      state.probeAt = now() + state.openMs;
    },
    recordSuccess: close,
    recordFailure({ code }) {
      if (!downCodes.has(code)) return close();
      const state = states.get(key) ?? { failures: 0, probeAt: undefined, openMs };
      storeState(key, state);
      state.failures += 1;
      if (isProbe) state.openMs = Math.min(state.openMs * 2, longestMs);
      // Requests already in flight when the circuit opened fail late; they do not extend it.
      if (isProbe || (state.probeAt === undefined && state.failures >= failures))
        state.probeAt = now() + state.openMs;
      isProbe = false;
    },
  };
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
    { retryable: true },
  );
}

const secretHeaders = new Set(["authorization", "x-api-key", "x-goog-api-key", "api-key"]);

/** Each `fetch` is a separate route to the network, so it gets its own circuits. */
const networks = new WeakMap<object, number>();
let networkCount = 0;

export type CircuitKeyParts = {
  readonly url: string;
  readonly id: string;
  readonly headers: { readonly [name: string]: string };
  readonly fetch?: object | undefined;
};

/** Identifies what fails together: host, model and account. The account's key cannot be recovered from the result. */
export function buildCircuitKey({ url, id, headers, fetch }: CircuitKeyParts): string {
  const host = URL.canParse(url) ? new URL(url).host : url;
  return [host, id, hashSecretHeaders(headers), fetch ? getNetworkId(fetch) : ""].join(" ");
}

/** FNV-1a: 32 bits are enough to tell accounts apart and too few to recover a key. */
function hashSecretHeaders(headers: CircuitKeyParts["headers"]): string {
  let hash = 0x811c9dc5;
  for (const [name, value] of Object.entries(headers)) {
    if (!secretHeaders.has(name.toLowerCase())) continue;
    for (let at = 0; at < value.length; at += 1) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

function getNetworkId(fetch: object): number {
  let network = networks.get(fetch);
  if (network === undefined) {
    networkCount += 1;
    network = networkCount;
    networks.set(fetch, network);
  }
  return network;
}
