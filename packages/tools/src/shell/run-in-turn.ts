import { overlaps } from "../files/parse-path.ts";

const commands = new Set<{ readonly roots: readonly string[]; readonly end: Promise<void> }>();

/**
 * Runs a command when the earlier ones in the same folders have ended: another one could move files while they are being
 * found and hidden. Rejects with the reason of the signal if it is aborted while it waits.
 */
export async function runInTurn<T>(
  roots: readonly string[],
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  const earlier = [...commands].filter((command) => haveOverlap(command.roots, roots)).map(({ end }) => end);
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const command = { roots, end };
  commands.add(command);
  try {
    await waitFor(Promise.all(earlier), signal);
    return await run();
  } finally {
    commands.delete(command);
    resolve();
  }
}

function haveOverlap(roots: readonly string[], others: readonly string[]): boolean {
  return roots.some((root) => others.some((other) => overlaps(root, other)));
}

async function waitFor(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
