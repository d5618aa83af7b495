import { AgentError, describeThrown } from "../errors.ts";
import type { Event } from "../event.ts";
import type { Message } from "../loop/messages.ts";
import type { SharedStoreOptions } from "../run/open-run.ts";
import type { Result } from "../run/result.ts";
import { run } from "../run/run.ts";
import { createRunHandle, forwardMessage, type Run } from "../run/run-handle.ts";
import type { Store } from "../store.ts";
import type { EnqueuedRun } from "./local-engine.ts";
import type { BusyRequest } from "./run-queue.ts";

type AttachOptions = {
  readonly signal?: AbortSignal | undefined;
  /**
   * Returns the stored run to follow instead: the same run in another process, or the run that takes the message once the
   * session is free. The run is wrapped, because a promise of a run resolves with its result.
   */
  attach(): Promise<{ readonly run: Run } | undefined>;
};

/**
 * The handle of a run that other processes execute. It follows the stored run once its start is stored, which `attach`
 * does, and rejects if that fails.
 */
export function followEnqueued(
  id: string,
  { signal, attach }: Required<Pick<AttachOptions, "attach">> & Pick<AttachOptions, "signal">,
): Run {
  const attached = attach().then((found) => {
    if (!found) throw new AgentError("unknown_run", `Run "${id}" not found in the store.`);
    const cancel = () => found.run.cancel(describeThrown(signal?.reason, "cancelled").message);
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    return found;
  });
  attached.catch(() => undefined); // a rejection belongs to the caller that awaits or iterates the run
  return createRunHandle({
    id,
    send: (message) =>
      void attached.then(
        ({ run }) => forwardMessage(run, message),
        () => undefined,
      ),
    async *readEvents() {
      yield* (await attached).run;
    },
    getResult: async () => (await attached).run,
  });
}

/** The handle of a run that was started in a session that may be busy. Then it follows a stored run instead. */
export function attachWhenBusy(started: Run, { signal, attach }: AttachOptions): Run {
  let isBusy = false;
  let stored: Run | undefined;
  /** Messages that no process has received if the session turns out to be busy. */
  let unsentMessages: Message[] | undefined = [];
  let failure: unknown;

  async function followStored(thrown: unknown): Promise<void> {
    isBusy = describeThrown(thrown, "store_failed").code === "session_busy";
    if (!isBusy) return;
    stored = (await attach())?.run;
    if (!stored) return;
    for (const message of unsentMessages ?? []) forwardMessage(stored, message);
    const cancel = () => stored?.cancel(describeThrown(signal?.reason, "cancelled").message);
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
  }
  // Only the start can find the session busy: later segments have received messages that must not be sent twice.
  const isDecided = Promise.resolve(started.then(() => undefined, followStored))
    .catch((thrown) => {
      failure = thrown;
    })
    .then(() => {
      unsentMessages = undefined;
    });

  /** Returns nothing, because a promise of a run resolves with the result of the run. */
  async function assertAttached(thrown: unknown): Promise<void> {
    await isDecided;
    if (!stored) throw failure ?? thrown;
  }
  async function* readEvents(source: AsyncIterator<Event>): AsyncGenerator<Event> {
    try {
      yield* toIterable(source);
    } catch (thrown) {
      await assertAttached(thrown);
      if (stored) yield* stored;
    }
  }
  return createRunHandle({
    id: started.id,
    send(message) {
      if (stored || !isBusy) forwardMessage(stored ?? started, message);
      unsentMessages?.push(message);
    },
    readEvents: () => (stored ?? readEvents(started[Symbol.asyncIterator]()))[Symbol.asyncIterator](),
    async getResult(): Promise<Result> {
      if (stored) return stored;
      return started.then(undefined, async (thrown) => {
        await assertAttached(thrown);
        return stored as Run;
      });
    },
  });
}

function toIterable(iterator: AsyncIterator<Event>): AsyncIterable<Event> {
  return { [Symbol.asyncIterator]: () => iterator };
}

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
