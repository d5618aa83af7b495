/** Generates span ids. An SDK generator fits: `new RandomIdGenerator()`. */
export interface IdSource {
  generateTraceId(): string;
  generateSpanId(): string;
}

/** An id generator for a tracer provider that derives the ids of a run's first span from the run id. */
export interface RunIds extends IdSource {
  /** Calls `start`, which must create the run's first span synchronously. */
  first<Made>(runId: string, start: () => Made): Made;
}

/**
 * Creates an id generator for the tracer provider; pass it to `traces` as well. The first span of a run then has no
 * parent, and a resumed run, in any process, nests its spans below it. `others` generates all other ids.
 */
export function runIds(others: IdSource): RunIds {
  let first: string | undefined;
  return {
    generateTraceId: () => (first === undefined ? others.generateTraceId() : traceIdOf(first)),
    generateSpanId: () => (first === undefined ? others.generateSpanId() : getSpanId(first)),
    first(runId, start) {
      first = runId;
      try {
        return start();
      } finally {
        first = undefined;
      }
    },
  };
}

/** Returns the trace id of a run. For a nested run, pass the id of its root run. */
export function traceIdOf(runId: string): string {
  return computeHash(`trace ${runId}`);
}

/** Returns the id of a run's first span. */
export function getSpanId(runId: string): string {
  return computeHash(`span ${runId}`).slice(16);
}

const fnvOffset = 0x6c62272e07bb014262b821756295c58dn;
const fnvPrime = 0x0000000001000000000000000000013bn;
const encoder = new TextEncoder();

/** 128-bit FNV-1a: synchronous and available in browsers. Nothing here is secret. */
function computeHash(text: string): string {
  let hash = fnvOffset;
  for (const byte of encoder.encode(text)) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * fnvPrime);
  return hash.toString(16).padStart(32, "0");
}
