import type { Io } from "../io.ts";

const noticeDelayMs = 300;
const shutdownNotice =
  "Shutting down. Waiting up to 25 s for active runs; unfinished runs resume on the next start. Press Ctrl-C again to exit now.\n";
const signals = { SIGINT: 130, SIGTERM: 143 } as const;

/** Resolves at the first SIGINT or SIGTERM; the second exits immediately. */
export function waitForShutdown(io: Io): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isShuttingDown = false;
  for (const [signal, exitCode] of Object.entries(signals))
    process.on(signal, () => {
      if (isShuttingDown) process.exit(exitCode);
      isShuttingDown = true;
      setTimeout(() => io.stderr.write(shutdownNotice), noticeDelayMs).unref();
      resolve();
    });
  return promise;
}
