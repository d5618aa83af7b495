import type { Io } from "../io.ts";

const noticeableMs = 300;
const patience =
  "Leaving: work under way gets 25 seconds, then it is put down and goes on at the next start. Once more leaves now.\n";
const signals = { SIGINT: 130, SIGTERM: 143 } as const;

/** Resolves at the first SIGINT or SIGTERM; the second one ends the process at once. */
export function untilToldToLeave(io: Io): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isLeaving = false;
  for (const [signal, exitCode] of Object.entries(signals))
    process.on(signal, () => {
      if (isLeaving) process.exit(exitCode);
      isLeaving = true;
      setTimeout(() => io.stderr.write(patience), noticeableMs).unref();
      resolve();
    });
  return promise;
}
