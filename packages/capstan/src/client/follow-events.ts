import { createParser, type EventSourceMessage } from "eventsource-parser";
import { sleep } from "../clock.ts";
import { AgentError, describeThrown, type ErrorCode, type ErrorData, errorCodes } from "../errors.ts";
import { type Event, type Fact, isFact } from "../event.ts";
import type { Connection } from "./connection.ts";
import type { ClientEnvironment } from "./environment.ts";
import type { StreamMode } from "./stream-view.ts";
import { trackPosition } from "./track-position.ts";
import { withTimeout } from "./with-timeout.ts";

/** Connection status of an event subscription. */
export type ConnectionState =
  | { readonly type: "connecting" }
  | { readonly type: "open" }
  /** Reconnects automatically. */
  | { readonly type: "lost"; readonly error: ErrorData; readonly retryInMs: number };

/** Options of an event subscription. */
export type FollowOptions = {
  /** The `seq` of the last known fact. Starts from the first fact by default. */
  readonly after?: number;
  /** Which deltas to receive, all by default. */
  readonly stream?: StreamMode;
  /** Ends the iteration when aborted. */
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
  /** Throws when the connection has been lost for this long. Retries forever by default. */
  readonly giveUpAfterMs?: number;
};

/** An event stream to follow. */
export type EventStreamSource = {
  readonly path: string;
  readonly connection: Connection;
  readonly environment: ClientEnvironment;
  /** Returns true for the last fact of the stream. */
  isLastFact(fact: Fact): boolean | Promise<boolean>;
  /** Called when the stream after a position was closed twice without an event. Returns true when no more events will come. */
  hasEnded(): Promise<boolean>;
};

const firstWaitMs = 250;
const maxWaitMs = 5_000;
/** The server sends a heartbeat every 15 seconds. */
const stallMs = 45_000;
/** Larger events are rejected before they exhaust memory. */
const maxEventCharacters = 64_000_000;

/**
 * Follows an event stream and reconnects after the last received fact. Yields every fact exactly once, in order and
 * without gaps. Deltas may be missing around a reconnect; a `message_restart` precedes the deltas that are sent again.
 */
export function followEvents(
  source: EventStreamSource,
  options: FollowOptions,
): AsyncIterableIterator<Event, void, undefined> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  const events = followWithRetry(source, options, stop.signal);
  options.signal?.addEventListener("abort", abort, { once: true });
  if (options.signal?.aborted) abort();
  const removeAbortListener = () => options.signal?.removeEventListener("abort", abort);
  return {
    async next() {
      const step = await events.next().catch((error) => {
        removeAbortListener();
        throw error;
      });
      if (step.done) removeAbortListener();
      return step;
    },
    return() {
      removeAbortListener();
      abort();
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* followWithRetry(
  source: EventStreamSource,
  { after = 0, stream = "all", onState, giveUpAfterMs = Number.POSITIVE_INFINITY }: FollowOptions,
  stop: AbortSignal,
): AsyncGenerator<Event, void, undefined> {
  const { clock, random } = source.environment;
  const tracker = trackPosition(after);
  let failures = 0;
  let silentConnections = 0;
  let lostAt: number | undefined;
  while (!stop.aborted) {
    let failure = new AgentError("server_unreachable", "The connection to the server was cut.");
    onState?.({ type: "connecting" });
    try {
      const last = tracker.getLastFact();
      if (last && (await source.isLastFact(last))) return;
      silentConnections++;
      for await (const messages of readEvents(
        source,
        { after: tracker.beginConnection(), stream },
        { stop, onState },
      )) {
        for (const message of messages) {
          silentConnections = 0;
          for (const event of tracker.accept(parseEvent(message))) {
            yield event;
            if (stop.aborted) return;
            if (isFact(event) && (await source.isLastFact(event))) return;
          }
        }
        failures = 0;
        lostAt = undefined;
      }
      // A stream opened after the last fact stays silent. If a fact has been received, the end is still to come.
      if (silentConnections > 1 && !tracker.getLastFact() && after > 0 && (await source.hasEnded())) return;
    } catch (thrown) {
      if (stop.aborted) return;
      failure = toAgentError(thrown);
      if (!failure.retryable) throw failure;
    }
    lostAt ??= clock.monotonic();
    const waitMs = computeRetryDelay(failure, failures++, random());
    if (clock.monotonic() + waitMs - lostAt > giveUpAfterMs) throw failure;
    const { code, message, retryable } = failure;
    onState?.({ type: "lost", error: { code, message, retryable }, retryInMs: waitMs });
    await sleep(clock, waitMs, stop).catch(() => undefined); // aborted: the loop ends
  }
}

/** Adds jitter: all other clients lost the server at the same moment. */
function computeRetryDelay({ retryAfterMs }: AgentError, failures: number, randomValue: number): number {
  if (retryAfterMs !== undefined) return Math.round(retryAfterMs * (1 + randomValue / 4));
  return Math.round(Math.min(maxWaitMs, firstWaitMs * 2 ** failures) * (1 - randomValue / 2));
}

type ConnectOptions = {
  readonly stop: AbortSignal;
  readonly onState: FollowOptions["onState"];
};

/** Yields the events of one connection, one batch per network read. Drops an event that is cut off. */
async function* readEvents(
  { path, connection, environment: { clock } }: EventStreamSource,
  { after, stream }: Required<Pick<FollowOptions, "after" | "stream">>,
  { stop, onState }: ConnectOptions,
): AsyncGenerator<readonly EventSourceMessage[], void, undefined> {
  const connectionAbort = new AbortController();
  const address = stream === "all" ? path : `${path}?stream=${stream}`;
  const limits = { clock, ms: stallMs, signal: stop };
  const decoder = new TextDecoder();
  let batch: EventSourceMessage[] = [];
  let isHeartbeat = false;
  const parser = createParser({
    onEvent: (message) => void batch.push(message),
    onComment() {
      isHeartbeat = true;
    },
    maxBufferSize: maxEventCharacters,
    onError(cause) {
      if (cause.type === "max-buffer-size-exceeded")
        throw new AgentError("chunk_too_large", "One event is larger than 64 MB.", { cause });
    },
  });
  try {
    const body = await withTimeout(
      connection.openEventStream(address, after, connectionAbort.signal),
      limits,
    );
    onState?.({ type: "open" });
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await withTimeout(reader.read(), limits);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (batch.length === 0 && !isHeartbeat) continue;
      const messages = batch;
      batch = [];
      isHeartbeat = false;
      yield messages;
    }
  } finally {
    connectionAbort.abort();
  }
}

/** Parses an event. Throws when the server reports a problem with the stream itself. */
function parseEvent({ event, data }: EventSourceMessage): Event {
  const value = JSON.parse(data);
  if (event === "server_draining")
    throw new AgentError("draining", "The server is shutting down.", { retryAfterMs: value.retryMs });
  if (event === "stream_error") {
    const code: ErrorCode = Object.hasOwn(errorCodes, value.code) ? value.code : "internal";
    const retryable = code === "aborted" || errorCodes[code].retryable; // aborted: this reader was too slow
    throw new AgentError(code, `The server ended the stream: ${code}.`, { retryable });
  }
  return value;
}

/** Treats network failures and corrupted data as a lost connection. */
function toAgentError(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const { message } = describeThrown(thrown, "server_unreachable");
  return new AgentError("server_unreachable", `The connection to the server was lost: ${message}`, {
    cause: thrown,
  });
}
