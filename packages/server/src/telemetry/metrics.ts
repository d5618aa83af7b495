import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { type Agent, type Event, type Fact, isFact } from "capstan";
import type { LoadFigures } from "../access/admission.ts";
import type { ExecutedSegment } from "../runs/active-runs.ts";
import { createCounter, createGauge, createHistogram, type Metric } from "./prometheus.ts";
import type { RunFigures } from "./run-figures.ts";

/** Metrics of a server. Contains no content and no user names. */
export interface Metrics {
  record(event: Event): void;
  /** Counts a segment of a run that this process has executed. */
  recordSegment(segment: ExecutedSegment): void;
  /** Formats all metrics as Prometheus text. */
  format(): Promise<string>;
}

export type Gauges = {
  countStreams(): number;
  countRuns(): number;
  getLoad(): LoadFigures;
  /** The runs of all processes; undefined if the store does not answer. */
  readRunFigures(): Promise<RunFigures | undefined>;
};

/** Upper bounds in seconds, from the convention for `gen_ai.client.operation.duration`. */
const durationBuckets = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

type ToolResultEvent = Extract<Event, { readonly type: "tool_call_result" }>;

/** Creates the metrics. `isOwn` tells the server's tools from client tools; by default all are the server's. */
export function createMetrics(
  gauges: Gauges,
  isOwn: (call: ToolResultEvent) => boolean = () => true,
): Metrics {
  const runs = createCounter("capstan_runs_total", "Finished runs by status.");
  const tokens = createCounter(
    "gen_ai_client_token_usage_total",
    "Tokens used. cache_read and cache_creation are part of input, reasoning is part of output.",
  );
  const calls = createCounter("capstan_tool_calls_total", "Tool calls with a result, by tool and status.");
  const failures = createCounter("capstan_model_failures_total", "Failed model calls by error.");
  const work = createWorkMetrics();
  const retries = createCounter("capstan_retries_total", "Repeated attempts.");
  const durations = createHistogram(
    "gen_ai_client_operation_duration_seconds",
    "Duration of model calls.",
    durationBuckets,
  );

  function recordUsage(model: string, ms: number | undefined, usage: Usage): void {
    const gen_ai_request_model = model;
    const add = (gen_ai_token_type: string, count = 0) =>
      count > 0 && tokens.add({ gen_ai_request_model, gen_ai_token_type }, count);
    add("input", usage.inputTokens);
    add("output", usage.outputTokens);
    add("cache_read", usage.cachedTokens);
    add("cache_creation", usage.cacheWriteTokens);
    add("reasoning", usage.reasoningTokens);
    if (ms !== undefined) durations.observe({ gen_ai_request_model }, ms / 1000);
  }
  return {
    record(event) {
      if (!isFact(event)) {
        if (event.type === "retry") retries.add({});
        return;
      }
      work.record(event);
      if (event.type === "done" && event.parentRunId === undefined) runs.add({ status: event.status });
      if (isModelCall(event) && event.model !== undefined && event.usage !== undefined)
        recordUsage(event.model, event.ms, event.usage);
      if ((event.type === "message" || event.type === "message_partial") && event.retryUsage)
        recordUsage(event.model, undefined, event.retryUsage);
      if (event.type === "model_failed") {
        failures.add({ error_type: event.error.code });
        if (event.usage) recordUsage(event.model, undefined, event.usage);
      }
      if (event.type === "tool_call_result") {
        // Models and clients can invent any number of names.
        const isKnown = event.error?.code !== "unknown_tool";
        const gen_ai_tool_name = !isKnown ? "unknown" : isOwn(event) ? event.name : "client";
        calls.add({ gen_ai_tool_name, status: event.status });
      }
    },
    recordSegment: work.recordSegment,
    async format() {
      const counters = [runs, tokens, calls, failures, retries, durations];
      const ofProcess = [...work.metrics, ...buildGauges(gauges)];
      const ofStore = buildStoreGauges(await gauges.readRunFigures());
      return [...counters, ...ofProcess, ...ofStore].map((metric) => metric.format()).join("");
    },
  };
}

type Usage = Extract<Event, { type: "message" }>["usage"];

function buildGauges({ countStreams: openStreams, countRuns: runsAtWork, getLoad }: Gauges): Metric[] {
  const { delayMs, requests, admitted, refused } = getLoad();
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  const { active, idle } = performance.eventLoopUtilization();
  return [
    createGauge("capstan_open_streams", "Open event streams.", openStreams()),
    createGauge("capstan_runs_at_work", "Active runs in this process.", runsAtWork()),
    createGauge("capstan_open_requests", "Requests that are being answered.", requests),
    createGauge("capstan_admitted_total", "Requests for work that were admitted.", admitted),
    createGauge(
      "capstan_refused_total",
      "Requests for work that were refused because of the load, by reason.",
      refused.map(([reason, count]) => [{ reason }, count] as const),
    ),
    createGauge(
      "capstan_event_loop_delay_seconds",
      "How long work waits for its turn of the event loop.",
      delayMs / 1000,
    ),
    createGauge("nodejs_heap_size_used_bytes", "Heap in use.", used_heap_size),
    createGauge("nodejs_heap_size_limit_bytes", "Heap limit.", heap_size_limit),
    createGauge(
      "process_resident_memory_bytes",
      "Resident memory of the process.",
      process.memoryUsage.rss(),
    ),
    createGauge("nodejs_eventloop_time_seconds_total", "Time of the event loop by state.", [
      [{ nodejs_eventloop_state: "active" }, active / 1000],
      [{ nodejs_eventloop_state: "idle" }, idle / 1000],
    ]),
  ];
}

/** Tools that every agent has. */
const builtinTools: readonly string[] = ["handoff", "read_result"];

/**
 * Returns whether a tool belongs to the server: to its agents, their handoff targets, or the tools for stored agents.
 * All others were declared by a client. Clients cannot change agents used as tools, so tools in nested runs always
 * belong to the server.
 */
export function createToolMatcher(
  agents: readonly Agent[],
  named: readonly string[],
): (event: Event & { readonly name: string }) => boolean {
  const team = new Set(agents);
  for (const { handoffs } of team) for (const other of handoffs?.() ?? []) team.add(other);
  const names = new Set([...builtinTools, ...named, ...[...team].flatMap(({ tools }) => [...tools.keys()])]);
  const sources = [...team].flatMap(({ toolSource }) => toolSource ?? []);
  return ({ name, parentRunId }) =>
    parentRunId !== undefined ||
    names.has(name) ||
    sources.some((source) => source().some((tool) => tool.name === name));
}

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
