import type { SpanExporter, TracerProviderOptions } from "@opentelemetry/sdk-trace";
import type { Event } from "capstan";
import { maskSecrets } from "capstan/logs";
import { parseVariables, type TelemetryVariables, type TraceExport } from "./telemetry-variables.ts";

/** Exports spans of runs to an OTLP endpoint. */
export interface Telemetry {
  /** Pass to `onEvent` of a server. */
  onEvent(event: Event): void;
  /** Flushes pending spans and stops. */
  close(): Promise<void>;
}

export type TelemetryOptions = {
  /** Masked in all exported data. */
  readonly secrets?: readonly string[];
  /** Called when an export fails, and not again until one has succeeded. */
  readonly onError?: (error: Error) => void;
};

/** Max time to flush spans on shutdown. */
const shutdownTimeoutMs = 5000;

const noTelemetry: Telemetry = { onEvent: () => undefined, close: async () => undefined };

/**
 * Starts tracing as configured by OpenTelemetry's variables, over OTLP (HTTP, protobuf) to
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`. Without an endpoint nothing is loaded.
 * Throws `invalid_definition` for an invalid variable.
 */
export async function telemetry(env: TelemetryVariables, options: TelemetryOptions = {}): Promise<Telemetry> {
  const target = parseVariables(env);
  if (!target) return noTelemetry;
  const { BatchSpanProcessor, RandomIdGenerator, TracerProvider } = await import("@opentelemetry/sdk-trace");
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  const { runIds, traces } = await import("capstan/trace");
  const { createSampler: samplerOf } = await import("./sampler.ts");
  const secrets = [...(options.secrets ?? []), ...target.secrets];
  const { url, headers } = target;
  const tell = createLossReporter(target, options);
  const exporter = withLossReport(new OTLPTraceExporter({ url, headers: { ...headers } }), tell);
  const ids = runIds(new RandomIdGenerator());
  const provider = new TracerProvider({
    idGenerator: ids,
    sampler: samplerOf(target.sampler),
    resource: createResource(target.resource),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const { content, extraKeys } = target;
  const sink = traces({ tracer: provider.getTracer("capstan"), ids, content, extraKeys, secrets });
  return {
    onEvent: sink,
    async close() {
      sink.close();
      const sent = provider.shutdown().catch((thrown: unknown) => tell(String(thrown)));
      await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, shutdownTimeoutMs).unref())]);
    },
  };
}

/** Reports the first failed export; the SDK does not. */
function createLossReporter(
  { url, secrets }: TraceExport,
  { onError }: TelemetryOptions,
): (lost?: string) => void {
  const mask = maskSecrets(secrets);
  let isTold = false;
  return (lost) => {
    if (lost !== undefined && !isTold)
      onError?.(new Error(`Failed to export spans to ${new URL(url).origin}: ${mask(lost)}`));
    isTold = lost !== undefined;
  };
}

function withLossReport(exporter: SpanExporter, tell: (lost?: string) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        tell(result.code === 0 ? undefined : (result.error?.message ?? "the receiver refused them"));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

type Resource = NonNullable<TracerProviderOptions["resource"]>;

function createResource(attributes: TraceExport["resource"]): Resource {
  const resource: Resource = {
    attributes,
    asyncAttributesPending: false,
    waitForAsyncAttributes: async () => undefined,
    getRawAttributes: () => Object.entries(attributes),
    merge: (other) => (other ? createResource({ ...attributes, ...toStrings(other.attributes) }) : resource),
  };
  return resource;
}

function toStrings(attributes: Resource["attributes"]): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, String(value)]));
}
