import { AgentError, type Event } from "capstan";
import { isForClients } from "./problem.ts";
import { eventFrame } from "./event-frame.ts";
import { type Pulse, pulseOf } from "./stream-pulse.ts";

export { eventFrame } from "./event-frame.ts";

/**
 * Events as `text/event-stream`: `id:` is the position of a fact, so that a client that comes back with `Last-Event-ID`
 * goes on behind it; deltas have none. A comment keeps the connection open when nothing happens.
 */
export type EventStreamOptions = {
  readonly events: Events;
  /** What to write for an event; nothing leaves it out. */
  readonly frame?: (event: Event) => string;
  /** Aborted when the server is about to leave: the client is told, and comes back elsewhere. */
  readonly leaving: AbortSignal;
  /** Called once, however it ends. */
  onClose?(): void;
};

/** Those that are ready are written together when they can be had together. */
export type Events = AsyncIterator<Event, void, undefined> & {
  nextBatch?(): Promise<IteratorResult<readonly Event[], void>>;
};

/** Of what a reader has not read yet; as much again may be on its way to it. */
export const mostUnread = 400_000;

/** A reader that takes nothing for so long is gone. */
const patienceMs = 60_000;

const encoder = new TextEncoder();

/** The answer that streams events to whoever reads it; a reader that stops reading holds back nobody else. */
export function eventStream({ events, frame = eventFrame, leaving, onClose }: EventStreamOptions): Response {
  const pulse = pulseOf(leaving);
  let isOver = false;
  /** Somebody waits for what comes next. */
  let isAwaited = false;
  let awaitedAt = Date.now();
  let controller: ReadableStreamDefaultController<Uint8Array>;

  /** Also for one that nobody ever reads. */
  function end(): void {
    if (isOver) return;
    isOver = true;
    pulse.delete(beat);
    void Promise.resolve(events.return?.()).catch(() => undefined);
    onClose?.();
  }
  const write = (text: string) => {
    if (text) controller.enqueue(encoder.encode(text));
  };
  const beat: Pulse = {
    beat(now) {
      if (isAwaited && controller.desiredSize === 0) {
        awaitedAt = now;
        return write(": still here\n\n");
      }
      if (now - awaitedAt < patienceMs) return;
      end();
      controller.error(new AgentError("aborted", "Nobody has read this stream for a minute."));
    },
    leave: () => void Promise.resolve(events.return?.()).catch(() => undefined),
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        pulse.add(beat);
      },
      async pull() {
        isAwaited = true;
        awaitedAt = Date.now();
        try {
          for (let text = ""; !text; ) {
            const { done, value } = await nextOf(events);
            if (isOver) return;
            if (done) return finish(leaving.aborted ? drainingFrame : "");
            text = value.map(frame).join("");
            write(text);
          }
        } catch (thrown) {
          if (!isOver) finish(problemFrame(thrown));
        } finally {
          isAwaited = false;
        }
      },
      cancel: end,
    },
    // What is ready stays with the events until somebody reads: there it is counted.
    { highWaterMark: 0 },
  );
  function finish(last: string): void {
    write(last);
    end();
    controller.close();
  }
  return new Response(body, { headers: streamHeaders });
}

async function nextOf(events: Events): Promise<IteratorResult<readonly Event[], void>> {
  if (events.nextBatch) return events.nextBatch();
  const { done, value } = await events.next();
  return done ? { done, value: undefined } : { done: false, value: [value] };
}

const drainingFrame = `event: server_draining\ndata: {"retryMs":1000}\nretry: 1000\n\n`;

function problemFrame(thrown: unknown): string {
  const { code, retryable } = isForClients(thrown)
    ? thrown
    : new AgentError("internal", "Something went wrong.");
  return `event: stream_error\ndata: ${JSON.stringify({ code, retryable })}\n\n`;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};
