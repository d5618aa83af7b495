import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { type Agent, type Event, isFact } from "capstan";
import { counter, gauge, histogram, type Metric } from "./prometheus.ts";

/** What a server counts, without a word of what was said or by whom. */
export interface Metrics {
  hear(event: Event): void;
  /** All of it, in the text format of Prometheus. */
  text(): string;
}

/** What is so at this moment. */
export type Gauges = { openStreams(): number; runsAtWork(): number };

/** Upper bounds in seconds, those of the convention for `gen_ai.client.operation.duration`. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

type Called = Extract<Event, { readonly type: "tool_call_result" }>;

/** Counts from nothing. `isOwn` says which tools are the server's: all of them when left out. */
export function metrics(gauges: Gauges, isOwn: (call: Called) => boolean = () => true): Metrics {
  const runs = counter("capstan_runs_total", "Runs that came to an end, by how they ended.");
  const tokens = counter(
    "gen_ai_client_token_usage_total",
    "Tokens used. Those of cache_read are part of input, those of reasoning part of output.",
  );
  const calls = counter("capstan_tool_calls_total", "Tool calls with a result, by tool and status.");
  const failures = counter("capstan_model_failures_total", "Model calls given up, by error.");
  const retries = counter("capstan_retries_total", "Attempts that were made again.");
  const durations = histogram(
    "gen_ai_client_operation_duration_seconds",
    "How long models took to answer.",
    seconds,
  );

  function used(model: string, ms: number | undefined, usage: Usage): void {
    const gen_ai_request_model = model;
    const add = (gen_ai_token_type: string, count = 0) =>
      count > 0 && tokens.add({ gen_ai_request_model, gen_ai_token_type }, count);
    add("input", usage.inputTokens);
    add("output", usage.outputTokens);
    add("cache_read", usage.cachedTokens);
    add("reasoning", usage.reasoningTokens);
    if (ms !== undefined) durations.observe({ gen_ai_request_model }, ms / 1000);
  }
  return {
    hear(event) {
      if (!isFact(event)) {
        if (event.type === "retry") retries.add({});
        return;
      }
      if (event.type === "done" && event.parentRunId === undefined) runs.add({ status: event.status });
      if (event.type === "message" || event.type === "compacted" || event.type === "turn_summary") {
        const { model, ms, usage } = event;
        if (model !== undefined && usage !== undefined) used(model, ms, usage);
      }
      if (event.type === "model_failed") failures.add({ error_type: event.error.code });
      if (event.type === "tool_call_result") {
        // Models and clients can make up any number of names.
        const isKnown = event.error?.code !== "unknown_tool";
        const gen_ai_tool_name = !isKnown ? "unknown" : isOwn(event) ? event.name : "client";
        calls.add({ gen_ai_tool_name, status: event.status });
      }
    },
    text: () =>
      [runs, tokens, calls, failures, retries, durations, ...present(gauges)]
        .map((metric) => metric.text())
        .join(""),
  };
}

type Usage = Extract<Event, { type: "message" }>["usage"];

function present({ openStreams, runsAtWork }: Gauges): Metric[] {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  const { active, idle } = performance.eventLoopUtilization();
  return [
    gauge("capstan_open_streams", "Event streams that are open.", openStreams()),
    gauge("capstan_runs_at_work", "Runs at work in this process.", runsAtWork()),
    gauge("nodejs_heap_size_used_bytes", "Memory for objects that is in use.", used_heap_size),
    gauge("nodejs_heap_size_limit_bytes", "The most memory for objects.", heap_size_limit),
    gauge("process_resident_memory_bytes", "Memory of the process.", process.memoryUsage.rss()),
    gauge("nodejs_eventloop_time_seconds_total", "Time of the event loop, by what it did.", [
      [{ nodejs_eventloop_state: "active" }, active / 1000],
      [{ nodejs_eventloop_state: "idle" }, idle / 1000],
    ]),
  ];
}

/** Of every agent. */
const everywhere: readonly string[] = ["handoff", "read_result"];

/**
 * Whether a tool is the server's: one of its agents, of those they hand over to, or of those that stored agents may have. Any
 * other was declared by a client. Agents that are tools, and so have runs inside of runs, are never changed by clients.
 */
export function ownTools(
  agents: readonly Agent[],
  named: readonly string[],
): (event: Event & { readonly name: string }) => boolean {
  const team = new Set(agents);
  for (const { handoffs } of team) for (const other of handoffs?.() ?? []) team.add(other);
  const names = new Set([...everywhere, ...named, ...[...team].flatMap(({ tools }) => [...tools.keys()])]);
  const sources = [...team].flatMap(({ toolSource }) => toolSource ?? []);
  return ({ name, parentRunId }) =>
    parentRunId !== undefined ||
    names.has(name) ||
    sources.some((source) => source().some((tool) => tool.name === name));
}
