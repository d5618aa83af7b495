import { AgentError } from "capstan";

/** How often the web may be asked. */
export type FetchLimits = {
  /** Requests of one run, redirects included; 100 when left out. */
  readonly perRun?: number;
  /** Requests to one host in a minute, by all runs of the process; 60 when left out. */
  readonly perHost?: number;
};

/** Counts a request, or throws `too_many_calls`. */
export type CountRequest = (host: string, run: string | undefined) => void;

const windowMs = 60_000;
/** Of what is remembered: the oldest is forgotten, so that a long life costs no memory. */
const mostKeys = 10_000;

/** Keeps count, by the time that `now` tells in milliseconds. */
export function countRequests(limits: FetchLimits, now: () => number): CountRequest {
  const { perRun = 100, perHost = 60 } = limits;
  const runs = new Map<string, number>();
  const hosts = new Map<string, readonly number[]>();
  return (host, run) => {
    const recent = (hosts.get(host) ?? []).filter((at) => at > now() - windowMs);
    if (recent.length >= perHost) {
      const message = `${host} was asked ${perHost} times in a minute. Work with what there is, or ask later.`;
      throw new AgentError("too_many_calls", message);
    }
    const count = run === undefined ? 0 : (runs.get(run) ?? 0);
    if (count >= perRun) {
      const message = `This run has made ${perRun} requests to the web, which is all it may. Answer with what there is.`;
      throw new AgentError("too_many_calls", message);
    }
    remember(hosts, host, [...recent, now()]);
    if (run !== undefined) remember(runs, run, count + 1);
  };
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key); // so that it becomes the newest
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > mostKeys && oldest !== undefined) map.delete(oldest);
}
