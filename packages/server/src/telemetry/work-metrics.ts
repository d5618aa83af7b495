import type { Fact } from "capstan";
import type { ExecutedSegment } from "../runs/active-runs.ts";
import { createCounter, createGauge, type Metric } from "./prometheus.ts";
import type { RunFigures } from "./run-figures.ts";

/** Metrics of the runs that this process executes on a store that it may share. */
export type WorkMetrics = {
  record(fact: Fact): void;
  recordSegment(segment: ExecutedSegment): void;
  readonly metrics: readonly Metric[];
};

export function createWorkMetrics(): WorkMetrics {
  const steps = createCounter(
    "capstan_steps_total",
    "Model calls and tool calls that this process executed.",
  );
  const segments = createCounter(
    "capstan_segments_total",
    "Segments of runs that this process executed: from a start or an answer to the end or the next wait.",
  );
  const takeovers = createCounter(
    "capstan_takeovers_total",
    "Runs that this process took over from one that was gone.",
  );
  const lostLeases = createCounter(
    "capstan_lost_leases_total",
    "Segments that stopped because another process had taken over the session.",
  );
  return {
    metrics: [steps, segments, takeovers, lostLeases],
    record(fact) {
      if (fact.type === "recovered") takeovers.add({});
      const type = findStep(fact);
      if (type) steps.add({ type });
    },
    recordSegment({ errorCode }) {
      if (errorCode === "session_busy") return; // another process was faster
      segments.add({});
      if (errorCode === "lease_lost") lostLeases.add({});
    },
  };
}

/** Every process reports the same runs, so these are not summed up. */
export function buildStoreGauges(figures: RunFigures | undefined, now: number = Date.now()): Metric[] {
  if (!figures) return [];
  const { active, waiting, queued, untaken, untakenSince = now } = figures;
  return [
    createGauge("capstan_runs", "Unfinished runs of all processes on the store, by state.", [
      [{ state: "active" }, active],
      [{ state: "waiting" }, waiting],
      [{ state: "queued" }, queued],
    ]),
    createGauge("capstan_untaken_runs", "Active runs on the store that no process executes.", untaken),
    createGauge(
      "capstan_untaken_run_age_seconds",
      "For how long the oldest of them could have continued.",
      Math.max(0, now - untakenSince) / 1000,
    ),
  ];
}

const modelCallTypes = ["message", "message_partial", "compacted", "turn_summary"] as const;

/** Returns the type of the step that ended with this fact. A call without an attempt was refused or answered from a cache. */
function findStep(fact: Fact): "model" | "tool" | undefined {
  if (isModelCall(fact) || fact.type === "model_failed") return "model";
  return fact.type === "tool_call_result" && fact.attempts > 0 ? "tool" : undefined;
}

export function isModelCall(fact: Fact): fact is Extract<Fact, { type: (typeof modelCallTypes)[number] }> {
  return modelCallTypes.some((type) => type === fact.type);
}
