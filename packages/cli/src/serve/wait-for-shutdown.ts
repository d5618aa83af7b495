import type { Io } from "../io.ts";

const noticeDelayMs = 300;
const shutdownNotice =
  "Leaving: work under way gets 25 seconds, then it is put down and goes on at the next start. Once more leaves now.\n";
const signals = { SIGINT: 130, SIGTERM: 143 } as const;

/** Resolves at the first SIGINT or SIGTERM; the second one ends the process at once. */
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
