// Hand-written instead of `hono/streaming`, which has no shared heartbeat, idle timeout or cache of frames.

import { AgentError, type Event, isFact } from "capstan";
import { isClientError } from "./problem.ts";

/**
 * Options of an event stream (`text/event-stream`). `id:` is the position of a fact, so that a client can continue
 * after it with `Last-Event-ID`; deltas have no id. Comments keep an idle connection open.
 */
export type EventStreamOptions = {
  readonly events: Events;
  /** Formats an event; an empty string skips it. */
  readonly formatFrame?: (event: Event) => string;
  /**
   * Aborted when the client has left, which ends the stream. If it leaves before the response, the HTTP server neither
   * reads nor cancels the body.
   */
  readonly clientSignal: AbortSignal;
  /** Aborted on shutdown: the stream ends with `server_draining`, and the client reconnects elsewhere. */
  readonly shutdownSignal: AbortSignal;
  readonly sseLog?: SseLog | undefined;
  /** Called exactly once, however the stream ends. */
  onClose?(): void;
};

/** `nextBatch` returns all events that are ready, which are then written as one chunk. */
export type Events = AsyncIterator<Event, void, undefined> & {
  nextBatch?(): Promise<IteratorResult<readonly Event[], void>>;
};

/** Buffer size of a slow reader; as much again may be in flight. */
export const maxUnread = 400_000;

/** A reader that takes nothing for this long is disconnected. */
const idleTimeoutMs = 60_000;

const encoder = new TextEncoder();

/** Streams events to one reader. A slow reader does not block others. */
export function streamEvents({
  events,
  formatFrame = formatEventFrame,
  clientSignal,
  shutdownSignal,
  sseLog,
  onClose,
}: EventStreamOptions): Response {
  const heartbeats = getHeartbeats(shutdownSignal);
  let isOver = false;
  /** The consumer is waiting for the next chunk. */
  let isAwaited = false;
  let awaitedAt = performance.now();
  let controller: ReadableStreamDefaultController<Uint8Array>;

  /** Also called by the idle timeout when the body is never read. */
  function dispose(): void {
    if (isOver) return;
    isOver = true;
    clientSignal.removeEventListener("abort", leave);
    heartbeats.delete(heartbeat);
    void Promise.resolve(events.return?.()).catch(() => undefined);
    onClose?.();
  }
  function leave(): void {
    dispose();
    controller.close();
  }
  const write = (text: string) => {
    if (text) controller.enqueue(encodeFrames(logFrames(text, sseLog)));
  };
  const heartbeat: Heartbeat = {
    tick(now) {
      if (isAwaited && controller.desiredSize === 0) {
        awaitedAt = now;
        return write(": still here\n\n");
      }
      if (now - awaitedAt < idleTimeoutMs) return;
      dispose();
      controller.error(new AgentError("aborted", "The stream was not read for a minute."));
    },
    shutDown: () => void Promise.resolve(events.return?.()).catch(() => undefined),
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        heartbeats.add(heartbeat);
        clientSignal.addEventListener("abort", leave);
        if (clientSignal.aborted) leave();
      },
      async pull() {
        isAwaited = true;
        awaitedAt = performance.now();
        try {
          for (let text = ""; !text; ) {
            const { done, value } = await readBatch(events);
            if (isOver) return;
            if (done) return finish(shutdownSignal.aborted ? drainingFrame : "");
            text = value.map(formatFrame).join("");
            write(text);
          }
        } catch (thrown) {
          if (!isOver) finish(formatErrorFrame(thrown));
        } finally {
          isAwaited = false;
        }
      },
      cancel: dispose,
    },
    // Pull one chunk at a time, so that unread events stay in the subscription, which bounds them.
    { highWaterMark: 0 },
  );
  function finish(last: string): void {
    write(last);
    dispose();
    controller.close();
  }
  return new Response(body, { headers: streamHeaders });
}

/** Not async: a second promise for every event of every reader. */
function readBatch(events: Events): Promise<IteratorResult<readonly Event[], void>> {
  if (events.nextBatch) return events.nextBatch();
  return events
    .next()
    .then(({ done, value }) => (done ? { done, value: undefined } : { done: false, value: [value] }));
}

/** Tells a reader to reconnect elsewhere. */
export const drainingFrame = `event: server_draining\ndata: {"retryMs":1000}\nretry: 1000\n\n`;

/** Formats the error that ends a stream. */
export function formatErrorFrame(thrown: unknown): string {
  const { code, retryable } = isClientError(thrown) ? thrown : new AgentError("internal", "Internal error.");
  return `event: stream_error\ndata: ${JSON.stringify({ code, retryable })}\n\n`;
}

/** A debug log of the events sent to clients, one line each. */
export type SseLog = (line: string) => void;

/** Logs every event in the frames, and returns the frames. */
export function logFrames(frames: string, log: SseLog | undefined): string {
  if (log)
    for (const [, event, data] of frames.matchAll(/^event: (.*)\ndata: (.*)$/gm))
      log(`event: ${event} | data: ${data}`);
  return frames;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform", // compression would hold events back
  "x-accel-buffering": "no",
};

/** Formats each event once for all concurrent readers. */
let frameCache = new WeakMap<Event, string>();

/** Formats an event in the default form. */
export function formatEventFrame(event: Event): string {
  const known = frameCache.get(event);
  if (known !== undefined) return known;
  const data = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const formatFrame = isFact(event) ? `id: ${event.seq}\n${data}` : data;
  frameCache.set(event, formatFrame);
  return formatFrame;
}

/** The readers of a run get the same frames one after the other, and share their bytes. */
let lastFrames = { text: "", bytes: new Uint8Array() };

function encodeFrames(text: string): Uint8Array {
  if (text !== lastFrames.text) lastFrames = { text, bytes: encoder.encode(text) };
  return lastFrames.bytes;
}

/** Drops cached frames: facts of a memory store live forever, and their frames would, too. */
export function clearFrameCache(): void {
  frameCache = new WeakMap();
  lastFrames = { text: "", bytes: new Uint8Array() };
}

/** Callbacks of an open stream. */
export type Heartbeat = {
  tick(now: number): void;
  shutDown(): void;
};

/** The open streams of a server, sharing one timer. */
export interface Heartbeats {
  add(pulse: Heartbeat): void;
  delete(pulse: Heartbeat): void;
}

const heartbeatMs = 15_000;
const servers = new WeakMap<AbortSignal, Heartbeats>();

/** Returns the heartbeats of the server with this shutdown signal. */
export function getHeartbeats(shutdownSignal: AbortSignal): Heartbeats {
  const known = servers.get(shutdownSignal) ?? createHeartbeats(shutdownSignal);
  servers.set(shutdownSignal, known);
  return known;
}

function createHeartbeats(shutdownSignal: AbortSignal): Heartbeats {
  const open = new Set<Heartbeat>();
  let timer: NodeJS.Timeout | undefined;
  shutdownSignal.addEventListener("abort", () => {
    for (const pulse of [...open]) pulse.shutDown();
  });
  return {
    add(pulse) {
      open.add(pulse);
      timer ??= setInterval(() => {
        const now = performance.now();
        clearFrameCache();
        for (const each of [...open]) each.tick(now);
      }, heartbeatMs).unref();
      if (shutdownSignal.aborted) pulse.shutDown();
    },
    delete(pulse) {
      open.delete(pulse);
      if (open.size > 0) return;
      clearFrameCache();
      clearInterval(timer);
      timer = undefined;
    },
  };
}
