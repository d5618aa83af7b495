import { AgentError, type Event, isFact } from "capstan";
import { isForClients } from "./problem.ts";

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

/** Several may read the same event: it is written once for all who read it at about the same time. */
let written = new WeakMap<Event, string>();

/** An event as it is written by default. */
export function eventFrame(event: Event): string {
  const known = written.get(event);
  if (known !== undefined) return known;
  const data = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const frame = isFact(event) ? `id: ${event.seq}\n${data}` : data;
  written.set(event, frame);
  return frame;
}

/** Lets go of what was written: a store in memory never forgets its facts, and their frames are as large. */
export function forgetFrames(): void {
  written = new WeakMap();
}

/** What an open stream does now and then, and when the server is about to leave. */
export type Pulse = {
  beat(now: number): void;
  leave(): void;
};

/** The open streams of a server. One timer for all of them, and none without any. */
export interface Pulses {
  add(pulse: Pulse): void;
  delete(pulse: Pulse): void;
}

const beatMs = 15_000;
const servers = new WeakMap<AbortSignal, Pulses>();

/** Of the server that leaves with this signal. */
export function pulseOf(leaving: AbortSignal): Pulses {
  const known = servers.get(leaving) ?? pulses(leaving);
  servers.set(leaving, known);
  return known;
}

function pulses(leaving: AbortSignal): Pulses {
  const open = new Set<Pulse>();
  let timer: NodeJS.Timeout | undefined;
  leaving.addEventListener("abort", () => {
    for (const pulse of [...open]) pulse.leave();
  });
  return {
    add(pulse) {
      open.add(pulse);
      timer ??= setInterval(() => {
        const now = Date.now();
        forgetFrames();
        for (const each of [...open]) each.beat(now);
      }, beatMs).unref();
      if (leaving.aborted) pulse.leave();
    },
    delete(pulse) {
      open.delete(pulse);
      if (open.size > 0) return;
      forgetFrames();
      clearInterval(timer);
      timer = undefined;
    },
  };
}
