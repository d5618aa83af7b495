import {
  type Context,
  context,
  diag,
  type Link,
  ROOT_CONTEXT,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { systemClock } from "../base/clock.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import { createMask, type SecretMask } from "../secrets/mask.ts";
import { createNameMask } from "./attributes.ts";
import { getSpanId, type RunIds, traceIdOf } from "./run-ids.ts";
import { openRunSpans, type SpanFactory, type SpanStart } from "./run-spans.ts";
import { type RunTrace, traceRun } from "./run-trace.ts";

export type TracesOptions = {
  /** Default: the tracer of the provider registered with `@opentelemetry/api`. Without one, nothing is recorded. */
  readonly tracer?: Tracer;
  /** Adds messages, arguments, results and instructions to spans. Default: false. */
  readonly content?: boolean;
  /** Masked in all attributes; see `maskSecrets`. The run's own secrets never appear in events. */
  readonly secrets?: readonly string[];
  /** Adds `session.id`, `openinference.span.kind` and `langfuse.observation.type`. */
  readonly extraKeys?: boolean;
  /** The id generator of the tracer's provider; see `runIds`. */
  readonly ids?: RunIds;
};

/** An `onEvent` hook for any number of concurrent runs. Never throws. */
export type Traces = ((event: Event) => void) & {
  /** Ends the spans of active runs. Call it before shutting down the provider. */
  close(): void;
};

/**
 * Upper bound for open runs; the oldest is dropped. Covers runs that never report an end, such as after a lost lease.
 */
const maxRuns = 4096;

/**
 * Converts run events to OpenTelemetry GenAI spans, with the times of the events: `invoke_agent` around a run, `chat`
 * for each model call, `execute_tool` for each tool call. The trace id derives from the id of the root run
 * (`traceIdOf`), so a resumed run continues the same trace. If a span is active when a run starts, the run's first span
 * links to it.
 */
export function traces(options: TracesOptions = {}): Traces {
  const secretMask = options.secrets?.length ? createMask(options.secrets) : undefined;
  const factory = createSpanFactory(options, secretMask);
  const runs = new Map<string, RunTrace>();

  function startRun(fact: Fact): RunTrace {
    runs.get(fact.runId)?.spans.end(fact.at);
    runs.delete(fact.runId);
    const [oldest] = runs;
    if (runs.size >= maxRuns && oldest) {
      oldest[1].spans.end(fact.at);
      runs.delete(oldest[0]);
    }
    const started = traceRun(factory, openRunSpans(factory, fact, resolveSpanStart(fact, runs)));
    runs.set(fact.runId, started);
    return started;
  }
  function handleEvent(event: Event): void {
    const runTrace = runs.get(event.runId);
    if (!isFact(event)) {
      if (event.type === "retry") runTrace?.addRetry(event, systemClock.now());
      return;
    }
    if (!runTrace && isAnswer(event)) {
      findRootTrace(event, runs)?.spans.addEvent(`capstan.${event.type}`, event.at);
      return;
    }
    const isContinued = runTrace && event.type !== "recovered" && event.type !== "run_start";
    const run = isContinued ? runTrace : startRun(event);
    const fact = secretMask && factory.content ? secretMask.fact(event) : event;
    if (!run.addFact(fact)) runs.delete(event.runId);
  }
  const sink = (event: Event): void => {
    try {
      handleEvent(event);
    } catch (thrown) {
      diag.error(
        `Capstan: could not record a span for ${event.type} (${thrown instanceof Error ? thrown.name : "unknown"}).`,
      );
    }
  };
  return Object.assign(sink, {
    close() {
      for (const { spans } of runs.values()) {
        spans.first.setAttribute("capstan.run.status", "interrupted");
        spans.end(systemClock.now());
      }
      runs.clear();
    },
  });
}

function createSpanFactory(options: TracesOptions, secretMask: SecretMask | undefined): SpanFactory {
  const { tracer = trace.getTracer("capstan"), content = false, extraKeys = false, ids } = options;
  return {
    ...{ tracer, content, extraKeys, ids },
    name: createNameMask(secretMask?.text ?? ((text) => text)),
    maskValue: (value) => secretMask?.value(value) ?? value,
    toMaskedJson: (value) => JSON.stringify(secretMask ? secretMask.value(value) : value),
  };
}

/** An answer to a call of a suspended nested run. The run resumes when its parent starts that call again. */
function isAnswer({ type, parentRunId }: Fact): boolean {
  return type === "approval_resolved" && parentRunId !== undefined;
}

function findRootTrace({ sessionId }: Fact, runs: ReadonlyMap<string, RunTrace>): RunTrace | undefined {
  for (const run of runs.values()) {
    const { origin } = run.spans;
    if (origin.sessionId === sessionId && origin.parentRunId === undefined) return run;
  }
  return undefined;
}

function resolveSpanStart(fact: Fact, runs: ReadonlyMap<string, RunTrace>): SpanStart {
  const { runId, parentRunId, parentCallId } = fact;
  if (parentRunId === undefined)
    return {
      parent: createRemoteContext(runId),
      links: getActiveLinks(),
      isFirst: fact.type === "run_start",
    };
  const parentTrace = runs.get(parentRunId) ?? findRootTrace(fact, runs);
  const parent = parentTrace?.spans.getContext(parentCallId) ?? createRemoteContext(parentRunId);
  return { parent, links: [], isFirst: false };
}

/** Returns the context of a run's first span, which another process may have created. */
function createRemoteContext(runId: string): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: traceIdOf(runId),
    spanId: getSpanId(runId),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}

function getActiveLinks(): Link[] {
  const active = trace.getSpanContext(context.active());
  return active && trace.isSpanContextValid(active) ? [{ context: active }] : [];
}
