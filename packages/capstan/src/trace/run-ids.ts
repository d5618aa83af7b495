/** Gives spans their ids. That of an SDK will do: `new RandomIdGenerator()`. */
export interface IdSource {
  generateTraceId(): string;
  generateSpanId(): string;
}

/** Ids for a tracer provider, by which the first span of a run has ids that follow from the id of the run. */
export interface RunIds extends IdSource {
  /** What `start` makes, at once, is the first span of this run. */
  first<Made>(runId: string, start: () => Made): Made;
}

/**
 * An id generator for the tracer provider, to be given to `traces` too. With it the first span of a run has no parent,
 * and a run that is resumed, also by another process, hangs its spans below that one. `others` makes all other ids.
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

/** The id of the trace that a run is in: of a nested run, that of the outermost one. */
export function traceIdOf(runId: string): string {
  return computeHash(`trace ${runId}`);
}

/** The id of the span that a run begins with. */
export function getSpanId(runId: string): string {
  return computeHash(`span ${runId}`).slice(16);
}

const fnvOffset = 0x6c62272e07bb014262b821756295c58dn;
const fnvPrime = 0x0000000001000000000000000000013bn;
const encoder = new TextEncoder();

/** FNV-1a of 128 bits: nothing here is secret, and it is the same in browsers, at once. */
function computeHash(text: string): string {
  let hash = fnvOffset;
  for (const byte of encoder.encode(text)) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * fnvPrime);
  return hash.toString(16).padStart(32, "0");
}
