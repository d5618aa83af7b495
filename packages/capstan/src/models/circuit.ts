import { AgentError, type ErrorCode } from "../errors.ts";

/** One attempt's view of a breaker. It is asked before the request and told how the request went. */
export type Circuit = {
  /** Throws `model_overloaded` while the provider is left alone. */
  assertClosed(): void;
  succeeded(): void;
  /** Failures that do not say "the provider is down" end the row of those that do: somebody answered. */
  failed(error: Pick<AgentError, "code">): void;
};

export type CircuitOptions = {
  /** How many failures in a row open it. By default 5. */
  readonly failures?: number;
  /** How long it stays open the first time; twice as long after each probe that fails. By default 30 s. */
  readonly openMs?: number;
  /** The longest time it stays open. By default 5 minutes. */
  readonly longestMs?: number;
  /** Who is left alone, for the message. By default the key. */
  readonly name?: string;
  readonly now?: () => number;
};

type State = {
  failures: number;
  /** When the next probe may go; undefined while closed. */
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

/** Only keys in trouble are kept, and of those the latest: keys that rotate must not fill the memory. */
const states = new Map<string, State>();
const mostStates = 1000;

/**
 * The breaker of this key, shared by all who use it in this process. After 5 failures in a row it opens: calls fail
 * at once, without a request. When its time is over one call is let through as a probe; it closes the circuit, or
 * opens it for twice as long. A probe that never reports, because its caller gave up, is followed by another one
 * after the same time.
 */
export function circuit(key: string, options: CircuitOptions = {}): Circuit {
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
      const leftMs = state.probeAt - now();
      if (leftMs > 0) throw leftAlone(name, state, leftMs);
      isProbe = true;
      state.probeAt = now() + state.openMs;
    },
    succeeded: close,
    failed({ code }) {
      if (!downCodes.has(code)) return close();
      const state = states.get(key) ?? { failures: 0, probeAt: undefined, openMs };
      keep(key, state);
      state.failures += 1;
      if (isProbe) state.openMs = Math.min(state.openMs * 2, longestMs);
      // What was under way when it opened fails late: that is no news.
      if (isProbe || (state.probeAt === undefined && state.failures >= failures))
        state.probeAt = now() + state.openMs;
      isProbe = false;
    },
  };
}

function keep(key: string, state: State): void {
  states.delete(key);
  states.set(key, state);
  if (states.size <= mostStates) return;
  const [oldest] = states.keys();
  if (oldest !== undefined) states.delete(oldest);
}

function leftAlone(name: string, { failures }: State, leftMs: number): AgentError {
  const seconds = Math.ceil(leftMs / 1000);
  return new AgentError(
    "model_overloaded",
    `${name} failed ${failures} times in a row and is left alone for another ${seconds} s; it was not asked.`,
    { retryable: true },
  );
}

const secretHeaders = new Set(["authorization", "x-api-key", "x-goog-api-key", "api-key"]);

/** Another `fetch` is another way to the network: what one cannot reach, the other may. */
const networks = new WeakMap<object, number>();
let networkCount = 0;

export type CircuitPlace = {
  readonly url: string;
  readonly id: string;
  readonly headers: { readonly [name: string]: string };
  readonly fetch?: object | undefined;
};

/** Names what fails together: the host, the model and the account. The account's key cannot be had back from it. */
export function circuitKey({ url, id, headers, fetch }: CircuitPlace): string {
  const host = URL.canParse(url) ? new URL(url).host : url;
  return [host, id, fingerprint(headers), fetch ? networkOf(fetch) : ""].join(" ");
}

/** FNV-1a: 32 bits tell accounts apart and are far too few to hold a key. */
function fingerprint(headers: CircuitPlace["headers"]): string {
  let hash = 0x811c9dc5;
  for (const [name, value] of Object.entries(headers)) {
    if (!secretHeaders.has(name.toLowerCase())) continue;
    for (let at = 0; at < value.length; at += 1) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

function networkOf(fetch: object): number {
  let network = networks.get(fetch);
  if (network === undefined) {
    networkCount += 1;
    network = networkCount;
    networks.set(fetch, network);
  }
  return network;
}
