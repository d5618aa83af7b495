import { AgentError } from "capstan";
import { version } from "../version.ts";

/** Environment variables. */
export type TelemetryVariables = { readonly [name: string]: string | undefined };

/** Target and contents of exported spans. */
export type TraceExport = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampler: { readonly name: string; readonly ratio: number };
  readonly resource: Readonly<Record<string, string>>;
  readonly content: boolean;
  readonly extraKeys: boolean;
  /** Credentials found in the variables. */
  readonly secrets: readonly string[];
};

const minSecretLength = 6;

/** Parses the variables; undefined if tracing is off. */
export function parseVariables(env: TelemetryVariables): TraceExport | undefined {
  const url = parseEndpoint(env);
  if (url === undefined || isTrue(env.OTEL_SDK_DISABLED) || env.OTEL_TRACES_EXPORTER?.trim() === "none")
    return undefined;
  const headers = {
    ...parsePairs(env, "OTEL_EXPORTER_OTLP_HEADERS"),
    ...parsePairs(env, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
  };
  const credentials = [
    decodeURIComponent(url.password),
    ...Object.values(headers).flatMap(extractCredentials),
  ];
  return {
    url: url.href,
    headers,
    sampler: parseSampler(env),
    resource: {
      "service.name": env.OTEL_SERVICE_NAME || "capstan",
      ...parsePairs(env, "OTEL_RESOURCE_ATTRIBUTES"),
      ...(env.OTEL_SERVICE_NAME && { "service.name": env.OTEL_SERVICE_NAME }),
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.name": "opentelemetry",
      "telemetry.distro.name": "capstan",
      "telemetry.distro.version": version,
    },
    content: /^(true|span_only|span_and_event)$/i.test(
      env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.trim() ?? "",
    ),
    extraKeys: isTrue(env.CAPSTAN_TRACE_EXTRA_KEYS),
    secrets: credentials.filter((text) => text.length >= minSecretLength),
  };
}

function parseEndpoint(env: TelemetryVariables): URL | undefined {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const shared = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  const name = own ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT";
  const text = own || shared;
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new AgentError("invalid_definition", `Invalid ${name}: must be an http:// or https:// URL.`);
  // The shared endpoint is a base URL; the endpoint for traces is used as is.
  if (!own) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url;
}

/** Parses comma-separated `name=value` pairs, which may be percent-encoded. */
function parsePairs(env: TelemetryVariables, variable: string): Record<string, string> {
  const given = (env[variable] ?? "").split(",").filter((text) => text.trim() !== "");
  return Object.fromEntries(
    given.map((text): [string, string] => {
      const at = text.indexOf("=");
      try {
        if (at > 0) return [decodePair(text.slice(0, at)), decodePair(text.slice(at + 1))];
      } catch {
        // Reported below without the value, which may be a key.
      }
      throw new AgentError("invalid_definition", `Invalid ${variable}: must be name=value,name=value.`);
    }),
  );
}

const decodePair = (text: string): string => decodeURIComponent(text.trim());

/** Returns a header value and its parts, as in `Bearer …`. */
function extractCredentials(value: string): string[] {
  return [value, ...value.split(" ").slice(1)];
}

function parseSampler(env: TelemetryVariables): TraceExport["sampler"] {
  const name = env.OTEL_TRACES_SAMPLER?.trim() || "parentbased_always_on";
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG?.trim() || 1);
  const isKnown = /^(parentbased_)?(always_on|always_off|traceidratio)$/.test(name);
  if (isKnown && ratio >= 0 && ratio <= 1) return { name, ratio };
  const which = isKnown
    ? "Invalid OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1"
    : `Unknown OTEL_TRACES_SAMPLER "${name}"`;
  throw new AgentError("invalid_definition", `${which}. Use always_on, always_off or traceidratio.`);
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === "true";
}
