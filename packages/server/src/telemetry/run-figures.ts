import type { RunCounts, Store } from "capstan";
import { countQueuedRuns } from "capstan/sessions";

/** The unfinished runs of all processes on a store. */
export type RunFigures = RunCounts & { readonly queued: number };

const cacheMs = 10_000;
const timeoutMs = 2000;

/** Returns a function that counts the runs of a store at most every 10 seconds; undefined if the store does not answer. */
export function createRunFigures(
  store: Pick<Store, "countRuns" | "listRecords">,
  now: () => number = () => performance.now(),
): () => Promise<RunFigures | undefined> {
  let last: { readonly at: number; readonly figures: Promise<RunFigures | undefined> } | undefined;
  return () => {
    if (!last || now() - last.at >= cacheMs) last = { at: now(), figures: readFigures(store) };
    return last.figures;
  };
}

async function readFigures(store: Pick<Store, "countRuns" | "listRecords">): Promise<RunFigures | undefined> {
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => timeout.resolve(undefined), timeoutMs);
  const read = async () => ({ ...(await store.countRuns()), queued: await countQueuedRuns(store) });
  try {
    return await Promise.race([read().catch(() => undefined), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
