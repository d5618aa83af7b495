export { type IdSource, type RunIds, runIds, traceIdOf } from "./run-ids.ts";
export { type Traces, type TracesOptions, traces } from "./traces.ts";
