import { AgentError } from "capstan";
import { version } from "../version.ts";

/** The variables of a process. */
export type TelemetryVariables = { readonly [name: string]: string | undefined };

/** Where spans go, and what they say, as the variables have it. */
export type Export = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampler: { readonly name: string; readonly ratio: number };
  readonly resource: Readonly<Record<string, string>>;
  readonly content: boolean;
  readonly extraKeys: boolean;
  /** What the variables themselves have that nobody is to see. */
  readonly secrets: readonly string[];
};

const shortestSecret = 6;

/** Undefined where the variables ask for nothing to be sent. */
export function exportOf(env: TelemetryVariables): Export | undefined {
  const url = urlOf(env);
  if (url === undefined || isTrue(env.OTEL_SDK_DISABLED) || env.OTEL_TRACES_EXPORTER?.trim() === "none")
    return undefined;
  const headers = {
    ...pairs(env, "OTEL_EXPORTER_OTLP_HEADERS"),
    ...pairs(env, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
  };
  const credentials = [decodeURIComponent(url.password), ...Object.values(headers).flatMap(credentialsIn)];
  return {
    url: url.href,
    headers,
    sampler: samplerOf(env),
    resource: {
      "service.name": env.OTEL_SERVICE_NAME || "capstan",
      ...pairs(env, "OTEL_RESOURCE_ATTRIBUTES"),
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
    secrets: credentials.filter((text) => text.length >= shortestSecret),
  };
}

function urlOf(env: TelemetryVariables): URL | undefined {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const shared = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  const name = own ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT";
  const text = own || shared;
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new AgentError(
      "invalid_definition",
      `${name} is not an address: give one with http:// or https://.`,
    );
  // One for all signals is where their paths begin; one for traces alone is taken as it is.
  if (!own) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url;
}

/** `name=value` parted by commas; names and values may be percent-encoded. */
function pairs(env: TelemetryVariables, variable: string): Record<string, string> {
  const given = (env[variable] ?? "").split(",").filter((text) => text.trim() !== "");
  return Object.fromEntries(
    given.map((text): [string, string] => {
      const at = text.indexOf("=");
      try {
        if (at > 0) return [decoded(text.slice(0, at)), decoded(text.slice(at + 1))];
      } catch {
        // Said below, without the value: it may be a key.
      }
      throw new AgentError(
        "invalid_definition",
        `${variable} cannot be read: write it as name=value,name=value.`,
      );
    }),
  );
}

const decoded = (text: string): string => decodeURIComponent(text.trim());

/** The words of a header's value, as in `Bearer …`. */
function credentialsIn(value: string): string[] {
  return [value, ...value.split(" ").slice(1)];
}

function samplerOf(env: TelemetryVariables): Export["sampler"] {
  const name = env.OTEL_TRACES_SAMPLER?.trim() || "parentbased_always_on";
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG?.trim() || 1);
  const isKnown = /^(parentbased_)?(always_on|always_off|traceidratio)$/.test(name);
  if (isKnown && ratio >= 0 && ratio <= 1) return { name, ratio };
  const which = isKnown
    ? "OTEL_TRACES_SAMPLER_ARG is a number from 0 to 1"
    : `OTEL_TRACES_SAMPLER cannot be "${name}"`;
  throw new AgentError("invalid_definition", `${which}: take always_on, always_off or traceidratio.`);
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === "true";
}
