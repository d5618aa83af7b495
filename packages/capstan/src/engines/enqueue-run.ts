import { describeThrown } from "../base/errors.ts";
import type { SharedStoreOptions } from "../runtime/open-run.ts";
import { run } from "../runtime/run.ts";
import { createRunHandle, forwardMessage, type Run } from "../runtime/run-handle.ts";
import type { Store } from "../runtime/store.ts";
import { cancelOnAbort } from "./attach.ts";
import type { EnqueuedRun } from "./local-engine.ts";
import type { BusyRequest } from "./run-queue.ts";

type EnqueueOptions = {
  readonly store: Store;
  readonly isNewSession: boolean;
  /** Does what the policy of the message says while its session is busy. */
  addToQueue(request: BusyRequest): Promise<EnqueuedRun>;
  /** Resolves when the start is stored. Rejects with `session_busy`. */
  start(): Promise<EnqueuedRun["state"]>;
};

/** Starts a run in an idle session, or adds it to the queue of a busy one. Resolves when the message is stored. */
export async function enqueueRun(
  request: BusyRequest,
  { store, isNewSession, addToQueue, start }: EnqueueOptions,
): Promise<EnqueuedRun> {
  const { session, runId } = request;
  const newest = isNewSession ? undefined : (await store.listRuns(session, 1)).at(-1);
  const isBusy = newest !== undefined && newest.state !== "ended" && newest.runId !== runId;
  if (isBusy) return addToQueue(request);
  try {
    return { runId, sessionId: session, state: await start() };
  } catch (thrown) {
    if (describeThrown(thrown, "store_failed").code !== "session_busy") throw thrown;
    const known = await store.findSession(runId);
    return known === undefined ? addToQueue(request) : { runId, sessionId: known, state: "found" };
  }
}

type StartOptions = { readonly store: Store; readonly shared: SharedStoreOptions; track(run: Run): Run };

/** Resolves when the start is stored, in the tick of the first event, so that a reader who joins then misses no delta. */
export function storeStart(
  { agent, input, ...options }: BusyRequest,
  { store, shared, track }: StartOptions,
): Promise<EnqueuedRun["state"]> {
  return new Promise((resolve, reject) => {
    const { hooks } = options;
    const onEvent: NonNullable<typeof hooks>["onEvent"] = (event) => {
      resolve("started");
      hooks?.onEvent?.(event);
    };
    const started = run(agent, input, { ...options, store, shared, hooks: { ...hooks, onEvent } });
    track(started).then(() => resolve("found"), reject);
  });
}

type FollowOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Stores the start, and returns the stored run, wrapped because a promise of a run resolves with its result. */
  enqueue(): Promise<{ readonly run: Run }>;
};

/** Creates the handle of a run that other processes execute. It rejects if the start cannot be stored. */
export function followEnqueued(id: string, { signal, enqueue }: FollowOptions): Run {
  const enqueued = enqueue();
  enqueued.then(
    ({ run: stored }) => cancelOnAbort(stored, signal),
    () => undefined, // a rejection belongs to the caller that awaits or iterates the run
  );
  return createRunHandle({
    id,
    send(message) {
      enqueued.then(
        ({ run: stored }) => forwardMessage(stored, message),
        () => undefined,
      );
    },
    async *readEvents() {
      yield* (await enqueued).run;
    },
    getResult: async () => (await enqueued).run,
  });
}
