import type { Outage, SessionView } from "capstan/client";

/** Returns the outage of the newest run, or of a nested run that it waits for. */
export function findOutage({ runs, runId = "" }: SessionView): Outage | undefined {
  const own = runs.get(runId)?.outage;
  if (own) return own;
  for (const run of runs.values()) if (run.rootRunId === runId && run.outage) return run.outage;
  return undefined;
}

/** Describes an outage of the model provider. */
export function formatOutage(code = ""): string {
  if (code === "model_rate_limited") return "The model provider limits the rate of requests.";
  if (code === "model_overloaded") return "The model provider is overloaded.";
  if (code === "model_timeout") return "The model provider does not answer.";
  if (code === "model_unreachable" || code === "model_failed") return "The model provider is not reachable.";
  return "The model's answer could not be used.";
}

/** Formats the time of day, such as `14:03:20`. */
export function formatClock(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}
