import { AgentError } from "capstan";

export type FetchLimits = {
  /** Requests per run, including redirects; default 100. */
  readonly perRun?: number;
  /** Requests per host and minute, over all runs of the process; default 60. */
  readonly perHost?: number;
};

/** Counts a request. Throws `too_many_calls` over a limit. */
export type CountRequest = (host: string, run: string | undefined) => void;

const rateWindowMs = 60_000;
/** The oldest entries are dropped to bound memory. */
const maxTrackedKeys = 10_000;

/** Creates a counter on the clock `now` (milliseconds). */
export function createRequestCounter(limits: FetchLimits, now: () => number): CountRequest {
  const { perRun = 100, perHost = 60 } = limits;
  const runs = new Map<string, number>();
  const hosts = new Map<string, readonly number[]>();
  return (host, run) => {
    const recent = (hosts.get(host) ?? []).filter((at) => at > now() - rateWindowMs);
    if (recent.length >= perHost) {
      const message = `Rate limit: ${perHost} requests per minute to ${host}. Continue with the results so far, or try later.`;
      throw new AgentError("too_many_calls", message);
    }
    const count = run === undefined ? 0 : (runs.get(run) ?? 0);
    if (count >= perRun) {
      const message = `Limit reached: ${perRun} web requests per run. Answer with the results so far.`;
      throw new AgentError("too_many_calls", message);
    }
    remember(hosts, host, [...recent, now()]);
    if (run !== undefined) remember(runs, run, count + 1);
  };
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key); // moves it to the end
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxTrackedKeys && oldest !== undefined) map.delete(oldest);
}
