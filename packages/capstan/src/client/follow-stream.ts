import { createParser, type EventSourceMessage } from "eventsource-parser";
import { sleep } from "../base/clock.ts";
import { AgentError, describeThrown, type ErrorCode, type ErrorData, errorCodes } from "../base/errors.ts";
import type { Connection } from "./connection.ts";
import type { ClientEnvironment } from "./environment.ts";
import type { StreamMode } from "./stream-view.ts";
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
export type StreamSource = {
  readonly path: string;
  readonly connection: Connection;
  readonly environment: ClientEnvironment;
};

/** Interprets the messages of a stream across its connections. */
export interface StreamReader<Item> {
  /** Called before each connection. True when nothing more will come. */
  isComplete(): boolean | Promise<boolean>;
  /** Returns the id of the last message that was received; undefined for none. */
  beginConnection(): string | undefined;
  /** Returns the items to yield for a message. */
  accept(event: string | undefined, data: unknown, id: string | undefined): readonly Item[];
  isLast(item: Item): boolean | Promise<boolean>;
  /** Called when the server closed the connection: `lost` waits before it reconnects. */
  onClose(): Promise<"end" | "reconnect" | "lost">;
}

const firstWaitMs = 250;
const maxWaitMs = 5_000;
/** The server sends a heartbeat every 15 seconds. */
const stallMs = 45_000;
/** Larger events are rejected before they exhaust memory. */
const maxEventCharacters = 64_000_000;

/** Follows a stream and reconnects after the last message that was received. */
export function followStream<Item>(
  source: StreamSource,
  reader: StreamReader<Item>,
  options: Omit<FollowOptions, "after" | "stream">,
): AsyncIterableIterator<Item, void, undefined> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  const events = followWithRetry(source, reader, { ...options, stop: stop.signal });
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

async function* followWithRetry<Item>(
  source: StreamSource,
  reader: StreamReader<Item>,
  { onState, giveUpAfterMs = Number.POSITIVE_INFINITY, stop }: RetryOptions,
): AsyncGenerator<Item, void, undefined> {
  const { clock, random } = source.environment;
  let failures = 0;
  let lostAt: number | undefined;
  while (!stop.aborted) {
    let failure = new AgentError("server_unreachable", "The connection to the server was cut.");
    onState?.({ type: "connecting" });
    try {
      if (await reader.isComplete()) return;
      for await (const messages of readStreamMessages(source, reader.beginConnection(), { stop, onState })) {
        for (const message of messages)
          for (const item of reader.accept(message.event, parseStreamMessage(message), message.id)) {
            yield item;
            if (stop.aborted || (await reader.isLast(item))) return;
          }
        failures = 0;
        lostAt = undefined;
      }
      const next = await reader.onClose();
      if (next === "end") return;
      if (next === "reconnect") continue;
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

type RetryOptions = {
  readonly onState?: FollowOptions["onState"] | undefined;
  readonly giveUpAfterMs?: number;
  readonly stop: AbortSignal;
};

/** Yields the messages of one connection, one batch per network read. Drops a message that is cut off. */
async function* readStreamMessages(
  { path, connection, environment: { clock } }: StreamSource,
  lastId: string | undefined,
  { stop, onState }: RetryOptions,
): AsyncGenerator<readonly EventSourceMessage[], void, undefined> {
  const connectionAbort = new AbortController();
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
    const body = await withTimeout(connection.openEventStream(path, lastId, connectionAbort.signal), limits);
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

/** Parses the data of a message. Throws when the server reports a problem with the stream itself. */
function parseStreamMessage({ event, data }: EventSourceMessage): unknown {
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
