import { describeThrown } from "../errors.ts";
import type { Event } from "../event.ts";
import type { Message } from "../loop/messages.ts";
import type { Result } from "../run/result.ts";
import { createRunHandle, type Run } from "../run/run-handle.ts";
import type { Store } from "../store.ts";

type AttachOptions = {
  readonly store: Store;
  /** Opens a stored run, whichever process executes it. */
  open(runId: string): Run;
};

/**
 * The handle of a run that was started with an id. If another process has the run, or had it when it died, the handle
 * follows the stored run instead of rejecting with `session_busy`.
 */
export function attachWhenBusy(started: Run, { store, open }: AttachOptions): Run {
  const { id } = started;
  let stored: Run | undefined;
  /** Messages that no process has received if the run turns out to be busy. */
  let unsentMessages: Message[] | undefined = [];

  async function attach(thrown: unknown): Promise<void> {
    const isBusy = describeThrown(thrown, "store_failed").code === "session_busy";
    if (!isBusy || (await store.findSession(id)) === undefined) return;
    stored = open(id);
    for (const message of unsentMessages ?? []) sendMessage(stored, message);
  }
  // Only the start can find the run busy: later segments have received messages that must not be sent twice.
  const isDecided = Promise.resolve(started.then(() => undefined, attach))
    .catch(() => undefined)
    .then(() => {
      unsentMessages = undefined;
    });

  /** Returns nothing, because a promise of a run resolves with the result of the run. */
  async function assertAttached(thrown: unknown): Promise<void> {
    await isDecided;
    if (!stored) throw thrown;
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
    id,
    send(message) {
      sendMessage(stored ?? started, message);
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

function sendMessage(run: Run, message: Message): void {
  switch (message.type) {
    case "cancel":
      return void run.cancel(message.reason);
    case "steer":
      return void run.steer(message.text);
    case "approve":
      return void run.approve(message.callId, message.value);
    case "deny":
      return void run.deny(message.callId, message.reason);
    case "result":
      return void run.answer(message.callId, message.value);
    case "retry":
      return void run.retry();
  }
}
