import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

type Rested = { readonly caller: Caller; readonly runId: string; readonly sessionId: string };

/**
 * Tells something to a run, as `tell` does. One that is at rest goes on then, so it needs what a new run needs: something
 * that is left of the caller's day, and a place among the caller's runs. Throws `rate_limited`, and nothing is told.
 */
export async function goingOn<Told>(
  { store, atWork, spending }: Deployment,
  { caller, runId, sessionId }: Rested,
  tell: () => Promise<Told>,
): Promise<Told> {
  const run = (await store.listRuns(sessionId)).find((one) => one.runId === runId);
  const isTold = (await store.listMessages(runId)).length > 0;
  if (run?.state !== "waiting" || isTold) return tell();
  await spending.within(caller, {});
  if (atWork.has(sessionId)) return tell();
  const expected = atWork.expect(caller, sessionId);
  try {
    const told = await tell();
    // Another process goes on with it, or nobody does.
    if (!expected.isTakenUp()) expected.release();
    return told;
  } catch (thrown) {
    expected.release();
    throw thrown;
  }
}
