const quietMs = 60_000;
const maxKinds = 100;

/**
 * Returns a function that reports errors. Messages that differ only in their numbers and names count as the same, and are
 * reported once a minute: an outage repeats them at every poll.
 */
export function createReporter(onError: (error: unknown) => void = warn): (error: unknown) => void {
  const reported = new Map<string, number>();
  return (error) => {
    const kind = getMessage(error).replace(/"[^"]*"|\d[\d.]*/g, "#");
    const lastAt = reported.get(kind);
    if (lastAt !== undefined && performance.now() - lastAt < quietMs) return;
    if (reported.size >= maxKinds) reported.clear();
    reported.set(kind, performance.now());
    onError(error);
  };
}

const getMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));

function warn(error: unknown): void {
  process.emitWarning(getMessage(error), { type: "CapstanDbosWarning" });
}
