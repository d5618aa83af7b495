import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { Export } from "./telemetry-variables.ts";

/**
 * The sampler of a name. What goes by the parent goes by the trace id: every span of a run is in one trace, whose id
 * follows from the run, so that all of them, also those of a run that is resumed elsewhere, are kept or none is.
 */
export function samplerOf({ name, ratio }: Export["sampler"]): Sampler {
  if (name.endsWith("always_off")) return new AlwaysOffSampler();
  return name.endsWith("traceidratio") ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
}
