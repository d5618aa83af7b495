import type { SpanExporter, TracerProviderOptions } from "@opentelemetry/sdk-trace";
import type { Event } from "capstan";
import { maskSecrets } from "capstan/logs";
import { type Export, exportOf, type TelemetryVariables } from "./telemetry-variables.ts";

/** Sends spans of runs to where the standard variables say. */
export interface Telemetry {
  /** For `onEvent` of a server. */
  onEvent(event: Event): void;
  /** Sends what is left, and ends. */
  close(): Promise<void>;
}

export type TelemetryOptions = {
  /** Masked in all that is sent. */
  readonly secrets?: readonly string[];
  /** Told when spans cannot be sent, and not again until some were. */
  readonly onError?: (error: Error) => void;
};

/** A process that leaves does not wait longer for whoever takes its spans. */
const patienceMs = 5000;

const none: Telemetry = { onEvent: () => undefined, close: async () => undefined };

/**
 * Tracing by the variables of OpenTelemetry: over OTLP (HTTP, protobuf) to `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or
 * `OTEL_EXPORTER_OTLP_ENDPOINT` and nowhere else. Without either nothing is loaded. Throws `invalid_definition` for a
 * variable that cannot be used.
 */
export async function telemetry(env: TelemetryVariables, options: TelemetryOptions = {}): Promise<Telemetry> {
  const target = exportOf(env);
  if (!target) return none;
  const { BatchSpanProcessor, RandomIdGenerator, TracerProvider } = await import("@opentelemetry/sdk-trace");
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  const { runIds, traces } = await import("capstan/trace");
  const { samplerOf } = await import("./sampler.ts");
  const secrets = [...(options.secrets ?? []), ...target.secrets];
  const { url, headers } = target;
  const tell = lossReport(target, options);
  const exporter = watched(new OTLPTraceExporter({ url, headers: { ...headers } }), tell);
  const ids = runIds(new RandomIdGenerator());
  const provider = new TracerProvider({
    idGenerator: ids,
    sampler: samplerOf(target.sampler),
    resource: resourceOf(target.resource),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const { content, extraKeys } = target;
  const sink = traces({ tracer: provider.getTracer("capstan"), ids, content, extraKeys, secrets });
  return {
    onEvent: sink,
    async close() {
      sink.close();
      const sent = provider.shutdown().catch((thrown: unknown) => tell(String(thrown)));
      await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, patienceMs).unref())]);
    },
  };
}

/** Says when spans begin to be lost: the SDK keeps it to itself. */
function lossReport({ url, secrets }: Export, { onError }: TelemetryOptions): (lost?: string) => void {
  const mask = maskSecrets(secrets);
  let isTold = false;
  return (lost) => {
    if (lost !== undefined && !isTold)
      onError?.(new Error(`Spans could not be sent to ${new URL(url).origin}: ${mask(lost)}`));
    isTold = lost !== undefined;
  };
}

function watched(exporter: SpanExporter, tell: (lost?: string) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        tell(result.code === 0 ? undefined : (result.error?.message ?? "they were refused"));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

type Resource = NonNullable<TracerProviderOptions["resource"]>;

/** What the spans are of, in the form that the SDK takes. */
function resourceOf(attributes: Export["resource"]): Resource {
  const resource: Resource = {
    attributes,
    asyncAttributesPending: false,
    waitForAsyncAttributes: async () => undefined,
    getRawAttributes: () => Object.entries(attributes),
    merge: (other) => (other ? resourceOf({ ...attributes, ...texts(other.attributes) }) : resource),
  };
  return resource;
}

function texts(attributes: Resource["attributes"]): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, String(value)]));
}
