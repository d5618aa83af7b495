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
import { systemClock } from "../clock.ts";
import { type Event, type Fact, isFact } from "../event.ts";
import { createMask, type SecretMask } from "../secrets/mask.ts";
import { createNameMask } from "./attributes.ts";
import { getSpanId, type RunIds, traceIdOf } from "./run-ids.ts";
import { openRunSpans, type SpanFactory, type SpanStart } from "./run-spans.ts";
import { type RunTrace, traceRun } from "./run-trace.ts";

export type TracesOptions = {
  /** By default that of the provider that is registered with `@opentelemetry/api`; without one nothing is kept. */
  readonly tracer?: Tracer;
  /** Whether spans show messages, arguments, results and instructions. They do not by default. */
  readonly content?: boolean;
  /** Masked in all that a span says, see `maskSecrets`; besides those of the run, which no event has. */
  readonly secrets?: readonly string[];
  /** Adds `session.id`, `openinference.span.kind` and `langfuse.observation.type`. */
  readonly extraKeys?: boolean;
  /** Those of the tracer's provider, see `runIds`. */
  readonly ids?: RunIds;
};

/** A sink for `hooks.onEvent`, for any number of runs at once. It never throws. */
export type Traces = ((event: Event) => void) & {
  /** Ends the spans of runs that have not come to rest: before the provider is shut down. */
  close(): void;
};

/** Runs that end without a word, as in a process that loses its lease, are forgotten when so many others have begun. */
const maxRuns = 4096;

/**
 * Makes spans of OpenTelemetry's GenAI convention from the events of runs, with the times of the events: `invoke_agent`
 * around a run, `chat` for each model call, `execute_tool` for each call. The trace id follows from the id of the
 * outermost run (`traceIdOf`), so a run that is resumed goes on in the same trace. When a span is active as a run
 * begins, the run's first span has a link to it.
 */
export function traces(options: TracesOptions = {}): Traces {
  const secretMask = createMask(options.secrets ?? []);
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
        `Capstan: no span for ${event.type} (${thrown instanceof Error ? thrown.name : "unknown"}).`,
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

/** What a person says to a call of a nested run that rests: it goes on when its caller begins that call again. */
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

/** The place of the span that the run begins with, whichever process has made it. */
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
