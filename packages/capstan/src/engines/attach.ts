import { describeThrown } from "../base/errors.ts";
import type { Event } from "../kernel/event.ts";
import type { Message } from "../runtime/messages.ts";
import type { Result } from "../runtime/result.ts";
import { createRunHandle, forwardMessage, type Run } from "../runtime/run-handle.ts";

type AttachOptions = {
  readonly signal?: AbortSignal | undefined;
  /**
   * Returns the stored run to follow instead: the same run in another process, or the run that takes the message once the
   * session is free. The run is wrapped, because a promise of a run resolves with its result.
   */
  attach(): Promise<{ readonly run: Run } | undefined>;
};

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
    cancelOnAbort(stored, signal);
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

/** Cancels the run when the signal is aborted. */
export function cancelOnAbort(run: Run, signal: AbortSignal | undefined): void {
  const cancel = () => run.cancel(describeThrown(signal?.reason, "cancelled").message);
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
}

function toIterable(iterator: AsyncIterator<Event>): AsyncIterable<Event> {
  return { [Symbol.asyncIterator]: () => iterator };
}
