const quietMs = 60_000;
const maxMessages = 100;

/** Returns a function that reports errors: the same message once a minute, because an outage repeats it at every poll. */
export function createReporter(onError: (error: unknown) => void = warn): (error: unknown) => void {
  const reported = new Map<string, number>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    const lastAt = reported.get(message);
    if (lastAt !== undefined && performance.now() - lastAt < quietMs) return;
    if (reported.size >= maxMessages) reported.clear();
    reported.set(message, performance.now());
    onError(error);
  };
}

function warn(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.emitWarning(message, { type: "CapstanDbosWarning" });
}
