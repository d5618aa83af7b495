import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { TraceExport } from "./telemetry-variables.ts";

/**
 * Creates the sampler of a name. "parentbased" samplers decide by trace id: all spans of a run share one trace, whose
 * id derives from the run, so they are sampled together, even if another process resumes the run.
 */
export function createSampler({ name, ratio }: TraceExport["sampler"]): Sampler {
  if (name.endsWith("always_off")) return new AlwaysOffSampler();
  return name.endsWith("traceidratio") ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
}
